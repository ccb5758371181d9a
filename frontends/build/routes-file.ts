/** Routing table of a site folder, which its server reads (`crates/service/src/site_files`). */
export interface ServerRoutes {
  /** The first match wins. If `parameters` are given, such as `page=2`, the query must have all of them. */
  redirects: readonly { from: string; parameters?: readonly string[]; to: string }[];
  notFound: readonly { prefix: string; page: string }[];
  /**
   * Pages that a query parameter selects instead of the page at `path`. A form on such a page posts to the
   * page's own URL, and the server redirects the request to `postsTo`.
   */
  variants: readonly { path: string; parameter: string; page: string; postsTo?: string }[];
  /** Paths that answer 410 from the time `since`, in seconds since 1970. */
  gone: readonly { path: string; since: number; page: string }[];
  scriptHashes: readonly string[];
  styleHashes: readonly string[];
  trustedTypePolicies: readonly string[];
  frameSources: readonly string[];
}

export const ROUTES_FILE = '_routes.json';
