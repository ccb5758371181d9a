import type { Rspack } from '@rsbuild/core';

// What browsers load lazily is given up after as long as a visitor waits before being told (`SLOW`), so that the next try
// asks anew: the bundler would wait for a script for two minutes, and for a stylesheet without end. Browsers ask for an
// address once at a time, whoever waits for it, so a file that hung is asked for at an address with a parameter.

/** The bundler's way to load a script, in every front end's runtime. */
export const scriptsThatHang: Rspack.RspackPluginInstance = {
  apply(compiler) {
    compiler.hooks.compilation.tap('scripts that hang', ({ hooks }) => {
      hooks.runtimeModule.tap('scripts that hang', ({ name, source }) => {
        if (source && name === 'load_script') {
          source.source = Buffer.from(source.source.toString() + ASK_ELSEWHERE);
        }
      });
    });
  },
};

const ASK_ELSEWHERE = `{
  const load = __webpack_require__.l;
  const elsewhere = {};
  __webpack_require__.l = (url, done, ...rest) => load(url + (elsewhere[url] ?? ''), event => {
    if (event?.type === 'timeout') elsewhere[url] = (elsewhere[url] ?? '?') + 1;
    done(event);
  }, ...rest);
}`;

/**
 * How a stylesheet that comes with a chunk gets into the page. As text, like the above: so it names nothing of ours. One that
 * has come or failed has no `onerror` any more; one that hung leaves its name in the head.
 */
export function insertStylesheet(link: HTMLLinkElement) {
  const name = link.href;
  const hung = document.getElementsByName(name).length;
  if (hung) {
    link.href += `?${hung}`;
  }
  document.head.append(link);
  setTimeout(() => {
    if (link.onerror) {
      document.head.append(Object.assign(document.createElement('meta'), { name }));
      link.onerror(new Event('timeout'));
    }
  }, 8000);
}
