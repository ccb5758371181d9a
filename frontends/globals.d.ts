/// <reference types="@rspack/core/module" />

/** Which build of a remote this is. */
declare const REMOTE_VERSION: string;

declare module '*.css';

/** A file that the site serves; its address. */
declare module '*.svg' {
  const address: string;
  export default address;
}
