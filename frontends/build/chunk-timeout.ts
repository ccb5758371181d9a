import type { Rspack } from '@rsbuild/core';

// Chunk load timeout (8 s, the kit's `LOAD_TIMEOUT_MS`). By default the bundler waits two minutes for a
// script, and forever for a stylesheet. A retry adds a cache-busting query, because browsers join requests
// for the same URL.

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
 * Inserts a chunk's stylesheet with a timeout. The bundler copies this function's source text, so it must not
 * use outer names. The bundler clears `onerror` after a load or an error. Each timeout adds a meta element
 * with the stylesheet's URL as its name.
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
