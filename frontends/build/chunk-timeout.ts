import type { Rspack } from '@rsbuild/core';

// Chunk load timeout (8 s); the retry adds a cache-busting query, because browsers join requests for one URL. Without it
// the bundler would wait for a script for two minutes, and for a stylesheet without end. The timeout is `LOAD_TIMEOUT_MS`
// of the kit: what is loaded lazily is given up when the visitor is told.

/** Script loader of the bundler, in every front end's runtime: its retries are cache-busting. */
export const scriptTimeoutPlugin: Rspack.RspackPluginInstance = {
  apply(compiler) {
    compiler.hooks.compilation.tap('script timeout', ({ hooks }) => {
      hooks.runtimeModule.tap('script timeout', ({ name, source }) => {
        if (source && name === 'load_script') {
          source.source = Buffer.from(source.source.toString() + CACHE_BUSTING_RETRY);
        }
      });
    });
  },
};

const CACHE_BUSTING_RETRY = `{
  const load = __webpack_require__.l;
  const elsewhere = {};
  __webpack_require__.l = (url, done, ...rest) => load(url + (elsewhere[url] ?? ''), event => {
    if (event?.type === 'timeout') elsewhere[url] = (elsewhere[url] ?? '?') + 1;
    done(event);
  }, ...rest);
}`;

/**
 * Inserts the stylesheet of a chunk, with a timeout. It goes into the page as text, like the above: so it names nothing of
 * ours. A stylesheet that has loaded or failed has no `onerror` any more; one that timed out leaves its name in the head.
 */
export function insertStylesheet(link: HTMLLinkElement) {
  const LOAD_TIMEOUT_MS = 8000;
  const name = link.href;
  const timeouts = document.getElementsByName(name).length;
  if (timeouts) {
    link.href += `?${timeouts}`;
  }
  document.head.append(link);
  setTimeout(() => {
    if (link.onerror) {
      document.head.append(Object.assign(document.createElement('meta'), { name }));
      link.onerror(new Event('timeout'));
    }
  }, LOAD_TIMEOUT_MS);
}
