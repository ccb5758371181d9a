/** Routing rules of a folder for its server (`crates/service/src/site_files`): what its files do not say. */
export interface ServerRoutes {
  /** Addresses that only lead on; with parameters, such as `page=2`, only where all of them are in the query. The first that fits counts. */
  redirects: readonly { from: string; parameters?: readonly string[]; to: string }[];
  /** Pages for addresses that name nothing, by the prefix they stand for. */
  notFound: readonly { prefix: string; page: string }[];
  /**
   * Pages that a parameter of the query chooses instead of the one at their address, and where a form leads that such a
   * page posts to its own address.
   */
  variants: readonly { path: string; parameter: string; page: string; postsTo?: string }[];
  /** Addresses that are gone from a time on, in seconds since 1970 (status 410), and the pages that say so. */
  gone: readonly { path: string; since: number; page: string }[];
  /** Of the scripts that stand in the pages themselves. */
  scriptHashes: readonly string[];
  /** Of the styles that stand in the pages themselves. */
  styleHashes: readonly string[];
  /** Names of the policies by which scripts make markup and scripts of strings (Trusted Types). */
  trustedTypePolicies: readonly string[];
  /** Sources that pages may frame (`frame-src`). */
  frameSources: readonly string[];
}

/** The file's name in its folder. */
export const ROUTES_FILE = '_routes.json';
