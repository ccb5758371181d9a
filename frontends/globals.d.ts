/** Version of the remote's build. */
declare const REMOTE_VERSION: string;

declare const REMOTE_ENTRIES: readonly { name: string; entry: string }[];

/** Versions of the shared packages, by imported module. */
declare const SHARED_VERSIONS: Readonly<
  Record<'react' | 'react-dom' | '@site/kit/router.ts', string>
>;

/** Version ranges that remotes require and `SHARED_VERSIONS` satisfies. */
declare const SATISFIED_RANGES: Readonly<Record<keyof typeof SHARED_VERSIONS, readonly string[]>>;

declare module '*/search-index.yaml' {
  /** JSON of the index. */
  export const index: string;
  /** Words that the index omits. */
  export const leftOut: readonly string[];
}
