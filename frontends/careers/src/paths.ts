/** Every address of careers that is rendered ahead of time. */
export const paths: readonly string[] = ['/careers'];
