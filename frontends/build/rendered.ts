export interface Rendered {
  /** Markup of the head's elements, then of the root element. */
  html: string;
  /** Fallback that replaces the page without JavaScript. Its title is the page's until JavaScript runs. */
  noscript?: { title: string; html: string } | undefined;
  /** The page's own chunk of the shell, if it has one. */
  chunk?: string | undefined;
  remoteModuleUses: readonly RemoteModuleUse[];
  /** Whether the page starts the application. The inline scripts of all pages run in any case. */
  scripts: 'app' | 'none';
}

export interface RemoteModuleUse {
  remote: string;
  module: string;
  /** `high` for the page's main content. */
  priority: 'high' | 'low';
}
