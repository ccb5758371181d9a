import { matchRoutes } from 'react-router-dom';
import { expect, test } from 'vitest';
import * as paths from '../../../kit/src/paths.ts';
import {
  builtPage,
  builtRoutes,
  sitemapPages,
  unlistedPages,
} from '../../../kit/testing/built-site.ts';
import { NOT_FOUND, SAMPLE_PATHS, SAMPLES } from '../../../kit/testing/sample-paths.ts';

// Tests use one page of each type, from `kit/testing/sample-paths.ts`.

const pages = [...sitemapPages(), ...unlistedPages()];

test('every page has a type', () => {
  expect(pages.filter(path => pageTypeOf(path) === 'notFound')).toEqual([]);
});

test.each(Object.entries(SAMPLES))('the sample of %s has that type and is built', (type, path) => {
  const { pathname, search } = new URL(path, 'http://localhost');
  expect(pageTypeOf(pathname)).toBe(search ? 'home' : type);
  expect(pages.includes(pathname)).toBe(type !== 'notFound');
});

test('each variant of the home page has a sample', () => {
  const variants = builtRoutes()
    .variants.filter(({ postsTo }) => !postsTo)
    .map(({ path, parameter }) => `${path}?${parameter}`);
  const others = variants.filter(path => builtPage(path).html !== builtPage(paths.home).html);
  expect(others).toEqual(SAMPLE_PATHS.filter(path => path.includes('?')));
});

test('newsletter links show a question only without JavaScript', () => {
  const asking = builtRoutes().variants.filter(({ postsTo }) => postsTo);
  expect(asking.map(({ postsTo }) => postsTo)).toEqual([
    '/api/newsletter/confirm',
    '/api/newsletter/unsubscribe',
  ]);
  const home = builtPage(paths.home);
  for (const { path, parameter } of asking) {
    const { html, document } = builtPage(`${path}?${parameter}`);
    const [, question = ''] = html.match(/<noscript>(<form .*?<\/form>)<\/noscript>/) ?? [];
    expect(question).toContain('name="answer" value="yes"');
    const [, heading = ''] = question.match(/<h1 .*?>(.*?)<\/h1>/) ?? [];
    expect(document.title).toBe(`${heading} | Oculant`);
    const otherwise = html
      .replace(`<noscript>${question}</noscript>`, '')
      .replace('<noscript><style>#root{display:none}</style></noscript>', '')
      .replace(`<title>${document.title}</title>`, `<title>${home.document.title}</title>`);
    expect(otherwise).toBe(home.html);
  }
});

test('each not-found page has a sample', () => {
  const shown = NOT_FOUND.map(path => builtPage(path).file);
  expect(shown.toSorted()).toEqual(
    builtRoutes()
      .notFound.map(({ page }) => page)
      .toSorted(),
  );
});

function pageTypeOf(path: string): string | undefined {
  const routes = Object.entries(paths.routePatterns).flatMap(([id, patterns]) =>
    patterns.map((pattern, at) => ({ id: `${id}:${at}`, path: pattern })),
  );
  return matchRoutes(routes, path)?.[0]?.route.id.split(':')[0];
}
