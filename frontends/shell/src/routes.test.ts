// @vitest-environment happy-dom
import * as paths from '@site/kit/paths.ts';
import { expect, test } from 'vitest';
import { NOT_FOUND, SAMPLES } from '../../kit/testing/sample-paths.ts';
import { pageKeyOf, routeAt } from './routes.tsx';

test.each([
  [SAMPLES.home, paths.home],
  [SAMPLES.blogList, paths.blog],
  ['/blog/category/Privacy/page/2', '/blog/category/:category/page/:page'],
  [SAMPLES.author, '/blog/author/:author'],
  [SAMPLES.article, '/blog/*'],
  [SAMPLES.services, paths.services],
  [SAMPLES.service, '/services/*'],
  [paths.apply, '/careers/apply'],
  [SAMPLES.applied, '/careers/applied'],
  [SAMPLES.position, '/careers/*'],
  ['/About/', paths.about],
  [NOT_FOUND[0], '*'],
])('%s matches the route %s', (path, pattern) => {
  expect(routeAt(path).pattern).toBe(pattern);
});

test('a list is one page, each article its own', () => {
  const keyOf = (path: string) => pageKeyOf(routeAt(path).route, path);
  expect(keyOf('/blog/page/2')).toBe(keyOf(paths.blog));
  expect(keyOf(paths.article('one'))).not.toBe(keyOf(paths.article('two')));
});
