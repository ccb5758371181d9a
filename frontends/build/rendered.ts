/** A page as the server build renders it. */
export interface Rendered {
  /** What goes into the root element, behind what goes into the head. */
  html: string;
  /** What stands in the page's place where no script runs, and the title that the page has until one does. */
  unscripted?: { title: string; html: string } | undefined;
  /** The shell's chunk with this page, where it has one of its own. */
  chunk?: string | undefined;
  /** What remotes show on this page. */
  areas: readonly Area[];
  /** Which scripts run in it, but for those that set its theme and give up stylesheets. */
  scripts: 'ours' | 'none';
}

/** An area of a page that a remote fills. */
export interface Area {
  /** The remote. */
  remote: string;
  /** The module it exposes. */
  module: string;
  /** `page` where it is what the visitor came for. */
  weight: 'page' | 'extra';
}
