/** Something that just happened, told in the corner. */
export interface Notice {
  /** An overlay replaces the overlay before it, and stays a little longer. */
  kind: 'success' | 'error' | 'overlay';
  title: string;
  text: string;
}

/** What the toaster is given. */
export interface ToasterProps {
  /** What it has not shown yet. */
  notices: readonly (Notice & { id: number })[];
  onShown: () => void;
}

/** Milliseconds for which an overlay is shown, and what the toaster cannot show. */
export const OVERLAY_FOR = 5000;
