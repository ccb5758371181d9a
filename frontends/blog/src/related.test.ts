import { expect, test } from 'vitest';
import { postFixture } from './post-fixture.ts';
import { relatedTo } from './related.ts';

const posts = [
  postFixture({ id: 'newest', category: 'Trends' }),
  postFixture({ id: 'read', category: 'Privacy' }),
  postFixture({ id: 'newer', category: 'Technology' }),
  postFixture({ id: 'kin', category: 'Privacy' }),
  postFixture({ id: 'oldest', category: 'Residential' }),
];

test('what is of the same category comes first, then what is new; never what is being read', () => {
  const [, read = postFixture({})] = posts;
  expect(relatedTo(read, posts).map(({ id }) => id)).toEqual(['kin', 'newest', 'newer']);
});
