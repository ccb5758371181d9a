/** Which build of a remote this is. */
declare const REMOTE_VERSION: string;

/** Entries of the shell's remotes. */
declare const REMOTE_ENTRIES: readonly { name: string; entry: string }[];

/** Versions of what the shell shares with remotes, by the module that is imported. */
declare const SHARED_VERSIONS: Readonly<
  Record<'react' | 'react-dom' | '@site/kit/router.ts', string>
>;

/** Ranges of versions that remotes require of it, and that these versions are within. */
declare const SATISFIED_RANGES: Readonly<Record<keyof typeof SHARED_VERSIONS, readonly string[]>>;

/** The index of all articles, in which readers search. */
declare module '*/search-index.yaml' {
  /** As JSON. */
  export const index: string;
  /** Words that it leaves out. */
  export const leftOut: readonly string[];
}
