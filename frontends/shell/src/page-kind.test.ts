import { expect, test } from 'vitest';
import { SAMPLES } from '../../kit/testing/sample-paths.ts';
import { pageKindOf } from './page-kind.ts';

test('an address becomes one of a few kinds', () => {
  const kinds = Object.entries(SAMPLES).map(([type, path]) => [type, pageKindOf(path)]);
  expect(Object.fromEntries(kinds)).toMatchObject({
    home: 'home',
    contact: 'contact',
    messageSent: 'form-result',
    blogList: 'blog-list',
    author: 'author',
    article: 'article',
    service: 'service',
    application: 'application',
    position: 'position',
    applied: 'form-result',
  });
});

test.each([
  ['/no-such-page', 'not-found'],
  ['/blog/no-such-post', 'article'],
  ['/blog/category/trends/page/2', 'blog-list'],
])('of %s nothing is left but %s', (path, kind) => {
  expect(pageKindOf(path)).toBe(kind);
});
