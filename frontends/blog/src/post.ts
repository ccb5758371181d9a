export const categories = ['Technology', 'Privacy', 'Trends', 'Residential', 'Case Study'] as const;

export interface PostSummary {
  /** Path segment below `/blog/`, and the file's name. */
  id: string;
  title: string;
  excerpt: string;
  /** Day, as `2025-04-15`. */
  date: string;
  modified?: string;
  /** Formatted date. The build writes it, because formatting the first date blocks a phone for 60 ms. */
  dateText: string;
  modifiedText?: string;
  category: (typeof categories)[number];
  /** Role of the author, as the brand file names it. */
  author: string;
  /** The author's role in full, such as `Chief Technology Officer`. */
  authorTitle: string;
  readMinutes: number;
  picture: string;
  /** Picture of link previews. If it is undefined, they show the site's picture. */
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
