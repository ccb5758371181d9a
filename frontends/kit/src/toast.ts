export interface Toast {
  /** An overlay replaces the previous overlay, and stays longer than other toasts. */
  kind: 'success' | 'error' | 'overlay';
  title: string;
  text: string;
}

export interface ToasterProps {
  toasts: readonly (Toast & { id: number })[];
  onShown: () => void;
}

/** Display time of overlays, and of toasts without the toaster. */
export const OVERLAY_DURATION_MS = 5000;
