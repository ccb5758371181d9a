import { posts } from './posts.ts';

/** Every address of the blog that is rendered ahead of time. */
export const paths: readonly string[] = ['/blog', ...posts.map(post => `/blog/${post.id}`)];
