import type { Remote } from '../build/remote.ts';

export const blog = {
  name: 'blog',
  exposes: ['blog-list', 'blog-post', 'blog-author', 'blog-teasers'],
  port: 8091,
} as const satisfies Remote;
