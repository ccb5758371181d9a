import type { PostSummary } from '../src/post.ts';

export function postFixture(given: Partial<PostSummary>): PostSummary {
  return {
    id: 'a-post',
    title: 'A post',
    excerpt: 'What it is about.',
    date: '2025-04-15',
    dateText: 'April 15, 2025',
    category: 'Privacy',
    author: 'CTO',
    authorTitle: 'Chief Technology Officer',
    readMinutes: 6,
    picture: '/a-post.svg',
    pictureAlt: 'A drawing.',
    ...given,
  };
}
