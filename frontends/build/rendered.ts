/** A page as the server build prerenders it. */
export interface Rendered {
  /** What goes into the root element, behind what goes into the head. */
  html: string;
  /** What stands in the page's place where no JavaScript runs, and the title that the page has until it does. */
  noscript?: { title: string; html: string } | undefined;
  /** The shell's chunk with this page, where it has one of its own. */
  chunk?: string | undefined;
  /** The remote modules that this page shows. */
  remoteModuleUses: readonly RemoteModuleUse[];
  /** Which scripts run in it, but for those of the theme and of the stylesheet timeout. */
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
