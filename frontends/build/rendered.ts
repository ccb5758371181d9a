export interface Rendered {
  /** Markup of the head's elements, then of the root element. */
  html: string;
  /** Fallback if JavaScript is off. The page has the fallback's title until the application runs. */
  noscript?: { title: string; html: string } | undefined;
  /** The page's own chunk of the shell, if it has one. */
  chunk?: string | undefined;
  remoteModuleUses: readonly RemoteModuleUse[];
  /** Whether the page starts the application. Pages without it still run some inline scripts. */
  scripts: 'app' | 'none';
}

export interface RemoteModuleUse {
  remote: string;
  module: string;
  /** `high` for the page's main content. */
  priority: 'high' | 'low';
}
