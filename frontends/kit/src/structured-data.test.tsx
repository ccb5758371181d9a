import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { StructuredData } from './structured-data.tsx';

test('no text of structured data ends its script or begins another, and all of it is kept', () => {
  const name = '</script><script>alert(1)</script><!-- & " \' \u2028 <';
  const markup = renderToStaticMarkup(<StructuredData data={{ '@type': 'Thing', name }} />);
  const [, json = ''] =
    /^<script type="application\/ld\+json">([^<]*)<\/script>$/.exec(markup) ?? [];
  expect(JSON.parse(json)).toEqual({ '@context': 'https://schema.org', '@type': 'Thing', name });
});
