// @vitest-environment happy-dom
import { render, screen } from '@testing-library/react';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { ShareLinks } from './share-links.tsx';

const OWN = 'https://oculant.example/blog/a-post';
const links = <ShareLinks address={OWN} title="A post" />;

function shared() {
  return screen.getAllByRole<HTMLAnchorElement>('link').map(link => {
    const { searchParams } = new URL(link.href);
    return searchParams.get('u') ?? searchParams.get('url');
  });
}

test('links share the reader’s URL without its fragment (section 2)', () => {
  history.replaceState(null, '', '/blog/a-post?page=2#end');
  render(links);
  expect(shared()).toEqual(Array(3).fill(`${location.origin}/blog/a-post?page=2`));
});

test('in prerendered HTML links share the canonical URL', () => {
  history.replaceState(null, '', '/elsewhere');
  document.body.innerHTML = renderToString(links);
  expect(shared()).toEqual([OWN, OWN, OWN]);
});
