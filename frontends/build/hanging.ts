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
  const hung = {};
  __webpack_require__.l = (url, done, ...rest) => {
    const told = event => {
      if (event?.type === 'timeout') hung[url] = (hung[url] ?? 0) + 1;
      return done(event);
    };
    load(hung[url] ? url + '?' + hung[url] : url, told, ...rest);
  };
}`;

/**
 * How a stylesheet that comes with a chunk gets into the page. As text, like the above: so it names nothing of ours. One that
 * has come or failed has no `onerror` any more; of one that hung the place in the head tells the next.
 */
export function insertStylesheet(link: HTMLLinkElement) {
  const { href } = link;
  const hung = document.querySelectorAll(`meta[name=hung][content="${href}"]`).length;
  if (hung > 0) {
    link.href = `${href}?${hung}`;
  }
  document.head.append(link);
  setTimeout(() => {
    if (link.onerror) {
      const mark = document.createElement('meta');
      document.head.append(Object.assign(mark, { name: 'hung', content: href }));
      link.onerror(new Event('timeout'));
    }
  }, 8000);
}
