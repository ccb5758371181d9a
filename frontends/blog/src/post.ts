export const categories = ['Technology', 'Privacy', 'Trends', 'Residential', 'Case Study'] as const;

export interface PostSummary {
  /** Path segment below `/blog/`, and the file's name. */
  id: string;
  title: string;
  excerpt: string;
  /** Day, as `2025-04-15`. */
  date: string;
  modified?: string;
  /** The date as text for readers. The build writes it: the first formatted date blocks a phone for 60 ms. */
  dateText: string;
  modifiedText?: string;
  category: (typeof categories)[number];
  /** Role of the author, as the brand file names it. */
  author: string;
  /** That role in full. */
  authorTitle: string;
  readMinutes: number;
  picture: string;
  /** Picture of link previews. Without one, they show the site's. */
  preview?: string | undefined;
  pictureAlt: string;
}

export interface Heading {
  id: string;
  text: string;
}

export interface PostText {
  html: string;
  headings: readonly Heading[];
}

export function lastChangeOf({ date, modified }: PostSummary): string {
  return modified ?? date;
}

/** Article without the URLs of its pictures, which only the bundler knows. */
export interface Post extends PostText {
  summary: Omit<PostSummary, 'picture' | 'preview'>;
  /** File name of the picture. */
  image: string;
}

/** Size of every picture. */
export const PICTURE_SIZE = { width: 800, height: 450 } as const;
