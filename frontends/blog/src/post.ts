/** Categories of articles. */
export const categories = ['Technology', 'Privacy', 'Trends', 'Residential', 'Case Study'] as const;

/** Summary of an article for lists. */
export interface PostSummary {
  /** Its address below `/blog/` and its file's name. */
  id: string;
  title: string;
  excerpt: string;
  /** The day it was published, as `2025-04-15`. */
  date: string;
  /** The day on which its text was last changed, where it was. */
  modified?: string;
  /** The day it was published as people read it, written by the build: a phone stands still for 60 ms when it first formats a date. */
  dateText: string;
  /** The day of its last change as people read it. */
  modifiedText?: string;
  category: (typeof categories)[number];
  /** Whose role it was to write it, as the brand file names the role. */
  author: string;
  /** That role in full. */
  authorTitle: string;
  /** Reading time, at 200 words a minute. */
  readMinutes: number;
  /** Address of its picture. */
  picture: string;
  /** Address of what previews of the article show; without one, they show the site's. */
  preview?: string | undefined;
  /** The picture in words. */
  pictureAlt: string;
}

/** A heading within an article, and where a link finds it. */
export interface Heading {
  id: string;
  text: string;
}

/** The text of an article. */
export interface PostText {
  html: string;
  headings: readonly Heading[];
}

/** The day of an article's last change, as `2025-04-15`. */
export function lastChangeOf({ date, modified }: PostSummary): string {
  return modified ?? date;
}

/** A whole article as its file holds it; only the build knows its picture's address. */
export interface Post extends PostText {
  summary: Omit<PostSummary, 'picture' | 'preview'>;
  /** The picture's file. */
  image: string;
}

/** All pictures have one size. */
export const PICTURE_SIZE = { width: 800, height: 450 } as const;
