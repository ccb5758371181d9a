// @vitest-environment happy-dom
import { render, screen } from '@testing-library/react';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { ShareLinks } from './share-links.tsx';

const OWN = 'https://oculant.example/blog/a-post';
const links = <ShareLinks address={OWN} title="A post" />;

/** The address that each link shares. */
function shared() {
  return screen.getAllByRole<HTMLAnchorElement>('link').map(link => {
    const { searchParams } = new URL(link.href);
    return searchParams.get('u') ?? searchParams.get('url');
  });
}

test('an article is shared by the address that the reader sees, without the part scrolled to (section 2)', () => {
  history.replaceState(null, '', '/blog/a-post?page=2#end');
  render(links);
  expect(shared()).toEqual(Array(3).fill(`${location.origin}/blog/a-post?page=2`));
});

test('in the page’s HTML it is shared by the address that it has', () => {
  history.replaceState(null, '', '/elsewhere');
  document.body.innerHTML = renderToString(links);
  expect(shared()).toEqual([OWN, OWN, OWN]);
});
