/** What articles are about. */
export const categories = ['Technology', 'Privacy', 'Trends', 'Residential', 'Case Study'] as const;

/** What a list tells of an article. */
export interface PostSummary {
  /** Its address below `/blog/` and its file's name. */
  id: string;
  title: string;
  excerpt: string;
  /** The day it was published, as `2025-04-15`. */
  published: string;
  category: (typeof categories)[number];
  author: string;
  /** How long reading it takes, at 200 words a minute. */
  readMinutes: number;
}

/** The text of an article. */
export interface PostText {
  html: string;
  headings: { id: string; text: string }[];
}

/** A whole article. */
export interface Post extends PostText {
  summary: PostSummary;
}

/** The date as people read it. */
export function dateOf({ published }: PostSummary): string {
  return new Date(published).toLocaleDateString('en-US', { dateStyle: 'long', timeZone: 'UTC' });
}
