import { expect, test } from 'vitest';
import { anyPost } from './any-post.ts';
import { relatedTo } from './related.ts';

const posts = [
  anyPost({ id: 'newest', category: 'Trends' }),
  anyPost({ id: 'read', category: 'Privacy' }),
  anyPost({ id: 'newer', category: 'Technology' }),
  anyPost({ id: 'kin', category: 'Privacy' }),
  anyPost({ id: 'oldest', category: 'Residential' }),
];

test('what is of the same category comes first, then what is new; never what is being read', () => {
  const [, read = anyPost({})] = posts;
  expect(relatedTo(read, posts).map(({ id }) => id)).toEqual(['kin', 'newest', 'newer']);
});
