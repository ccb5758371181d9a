import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dist } from '../../../build/file-paths.ts';
import { builtPage, sitemapPages } from '../../../kit/testing/built-site.ts';
import { NOT_FOUND, SAMPLES } from '../../../kit/testing/sample-paths.ts';

// A first view is the HTML and every file that it requests at once, as Brotli, with response headers. The
// application's scripts are `meta` elements, so generic tools miss them.

const SCRIPT_BYTES = 100_000;
/** Includes the federation runtime, the remote's entry and its kit. */
const SCRIPT_BYTES_OF_REMOTE = 126_000;
const TOTAL_BYTES = 250_000;
/**
 * TCP's initial congestion window (ten segments of 1,460 bytes, RFC 6928), less a margin for headers. A
 * larger page costs another round trip.
 */
const FIRST_FLIGHT_BYTES = 14_500;
/** Response headers in HTTP/2, Content Security Policy included. */
const HEADER_BYTES = 892;
/** Latin fonts. The test cannot tell which of them a page uses, so it counts both. */
const FONTS = /\/assets\/geist-(?:mono-)?latin-wght-normal\.\w+\.woff2/g;
/** A smaller count means that the test looks for the wrong elements. */
const LEAST_SCRIPT_BYTES = 80_000;

const PAGES = [...sitemapPages(), SAMPLES.impact, ...NOT_FOUND];

test.each(PAGES)('the first view of %s keeps its byte budgets', route => {
  const { file, document } = builtPage(route);
  const scripts = scriptsOf(document);
  const scriptBytes = bytesOf(scripts);
  const allowed = /^\/(blog|careers)\b/.test(route) ? SCRIPT_BYTES_OF_REMOTE : SCRIPT_BYTES;
  expect(scriptBytes).toBeGreaterThan(LEAST_SCRIPT_BYTES);
  expect(scriptBytes).toBeLessThanOrEqual(allowed);
  const all = [`/${file}`, ...scripts, ...otherFilesOf(document)];
  expect(bytesOf(all)).toBeLessThanOrEqual(TOTAL_BYTES);
});

test.each(PAGES)('the HTML of %s fits TCP’s initial window', route => {
  expect(bytesOf([`/${builtPage(route).file}`])).toBeLessThanOrEqual(FIRST_FLIGHT_BYTES);
});

function scriptsOf(document: Document): string[] {
  return [
    ...sources(document, 'script[src]', 'src'),
    ...sources(document, 'meta[name=app-script], meta[name=deferred-preload]', 'content'),
    ...sources(document, 'link[rel=modulepreload], link[rel=preload][as=script]', 'href'),
  ];
}

/** Without lazy pictures. */
function otherFilesOf(document: Document): string[] {
  const styles = sources(document, 'link[rel=stylesheet]', 'href');
  const css = [
    ...styles.map(style => readFileSync(join(dist, style), 'utf8')),
    ...Array.from(document.querySelectorAll('style'), ({ textContent }) => textContent),
  ];
  return [
    ...styles,
    ...css.flatMap(text => text.match(FONTS) ?? []),
    ...sources(
      document,
      'link[rel=preload]:not([as=script]), link[rel=icon], link[rel=manifest]',
      'href',
    ),
    ...sources(document, 'img:not([loading=lazy])', 'src'),
  ];
}

function sources(document: Document, selector: string, attribute: string): string[] {
  return Array.from(document.querySelectorAll(selector))
    .filter(element => !element.closest('noscript'))
    .map(element => element.getAttribute(attribute) ?? '');
}

/** Each file counts once, as Brotli if there is such a variant. */
function bytesOf(addresses: readonly string[]): number {
  let total = 0;
  for (const address of new Set(addresses)) {
    const file = join(dist, address);
    total += HEADER_BYTES + statSync(existsSync(`${file}.br`) ? `${file}.br` : file).size;
  }
  return total;
}
