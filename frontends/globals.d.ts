/// <reference types="@rspack/core/module" />

/** Which build of a remote this is. */
declare const REMOTE_VERSION: string;

declare module '*.css';

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
