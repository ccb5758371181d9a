/** A page as the server build prerenders it. */
export interface Rendered {
  /** Markup of the root element, behind that of the head. */
  html: string;
  /** Fallback in the page's place where no JavaScript runs, and the title that the page has until it does. */
  noscript?: { title: string; html: string } | undefined;
  /** The shell's chunk with this page, where it has one of its own. */
  chunk?: string | undefined;
  /** The remote modules that this page shows. */
  remoteModuleUses: readonly RemoteModuleUse[];
  /** Scripts that run in it, but for those of the theme and of the stylesheet timeout. */
  scripts: 'app' | 'none';
}

/** Use of a remote's exposed module by a page. */
export interface RemoteModuleUse {
  /** The remote. */
  remote: string;
  /** The module it exposes. */
  module: string;
  /** `high` where it is what the visitor came for. */
  priority: 'high' | 'low';
}
