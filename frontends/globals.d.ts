/// <reference types="@rspack/core/module" />

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

declare module '*.css';

/** The index of all articles, in which readers search. */
declare module '*/search-index.yaml' {
  /** As JSON. */
  export const index: string;
  /** Words that it leaves out. */
  export const leftOut: readonly string[];
}

/** A file that the site serves; its address. */
declare module '*.svg' {
  const address: string;
  export default address;
}
declare module '*.jpg' {
  const address: string;
  export default address;
}
declare module '*.webp' {
  const address: string;
  export default address;
}
declare module '*.webm' {
  const address: string;
  export default address;
}
declare module '*.mp4' {
  const address: string;
  export default address;
}
declare module '*.vtt' {
  const address: string;
  export default address;
}

/** Reads structured data from HTML. It comes without types. */
declare module '@marbec/web-auto-extractor' {
  export interface Extracted {
    jsonld: Record<string, unknown[]>;
  }
  export default class WebAutoExtractor {
    constructor(options: { addLocation: boolean });
    parse(html: string): Extracted;
  }
}

/** Says what search engines miss in structured data. It comes without types. */
declare module '@adobe/structured-data-validator' {
  import type { Extracted } from '@marbec/web-auto-extractor';
  export default class Validator {
    validate(data: Extracted): Promise<{ issueMessage: string; severity: string }[]>;
  }
}
