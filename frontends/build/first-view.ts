import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { FirstView } from './budgets.ts';
import { kilobytes } from './budgets.ts';
import { dist } from './file-paths.ts';

/** Bytes of a response's headers, the Content Security Policy among them, as HTTP/2 packs them: browsers speak it with TLS. */
const RESPONSE_HEADER_BYTES = 892;
/** The two fonts of plain text; which letters of others a page has is for a browser to find out. */
const FONTS = /\/assets\/geist-(?:mono-)?latin-wght-normal\.\w+\.woff2/g;

/**
 * Weight of a page's first view, without a browser: its HTML, and every script, stylesheet, font, picture, icon and
 * manifest that the HTML asks for at once, each as its Brotli variant, with its headers.
 *
 * The application's scripts stand in the HTML as `meta` of the name `app-script` (fetched when the page is painted) and
 * `deferred-preload` (the page's own part, and of a remote its entry and the module that fills the page, with all that these import
 * statically: the compiler's list of a chunk's files). Counted a little high are the fonts: both, wherever the
 * stylesheet names them. Not counted are pictures that wait until they come near the viewport.
 *
 * Held against what Lighthouse 13.5 counted of the same build, in kB of JavaScript and in all: see
 * `docs/performance.md`.
 */
export function firstViewOf(file: string, document: Document): FirstView {
  const sources = (selector: string, attribute: string) =>
    Array.from(document.querySelectorAll(selector))
      .filter(element => !element.closest('noscript'))
      .map(element => element.getAttribute(attribute) ?? '');
  const scripts = [
    ...sources('script[src]', 'src'),
    ...sources('meta[name=app-script], meta[name=deferred-preload]', 'content'),
    ...sources('link[rel=modulepreload], link[rel=preload][as=script]', 'href'),
  ];
  const styles = sources('link[rel=stylesheet]', 'href');
  const others = [
    ...sources('link[rel=preload]:not([as=script]), link[rel=icon], link[rel=manifest]', 'href'),
    ...sources('img:not([loading=lazy])', 'src'),
    ...fontsOf(document, styles),
  ];
  const all = [`/${file}`, ...scripts, ...styles, ...others];
  return { scriptKb: kilobytes(bytesOf(scripts)), totalKb: kilobytes(bytesOf(all)) };
}

/** Bytes of a page's HTML alone, with its headers. */
export function htmlBytesOf(file: string): number {
  return bytesOf([`/${file}`]);
}

function fontsOf(document: Document, styles: readonly string[]): string[] {
  const linked = styles.map(style => readFileSync(join(dist, style), 'utf8'));
  const own = Array.from(document.querySelectorAll('style'), ({ textContent }) => textContent);
  return [...linked, ...own].flatMap(style => style.match(FONTS) ?? []);
}

/** Total bytes: each is fetched once, as its precompressed variant where it has one. */
function bytesOf(addresses: readonly string[]): number {
  const sizes = Array.from(new Set(addresses), address => {
    const file = join(dist, address);
    return RESPONSE_HEADER_BYTES + statSync(existsSync(`${file}.br`) ? `${file}.br` : file).size;
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}
