/** Which build of a remote this is. */
declare const REMOTE_VERSION: string;
