import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BoundFunctions, queries } from '@testing-library/dom';
import { configure, within } from '@testing-library/dom';
import { Window } from 'happy-dom';
import { dist, manifestFile } from '../../build/file-paths.ts';
import type { ServerRoutes } from '../../build/routes-file.ts';
import { ROUTES_FILE } from '../../build/routes-file.ts';
import { pathsIn } from './sitemap.ts';

// Reads the built site as a client without JavaScript does, without a server or a browser.

configure({
  // No stylesheets are loaded, so the tests cannot know which elements are visible.
  defaultHidden: true,
  getElementError: message => new Error(message?.split('\n')[0] ?? 'There is no such element'),
});

type Queries = BoundFunctions<typeof queries>;

export interface BuiltPage {
  file: string;
  html: string;
  document: Document;
  page: Queries;
  main: Queries;
}

const read = new Map<string, BuiltPage>();

/** Page at a path of the built site, or in one of its files. */
export function builtPage(address: string): BuiltPage {
  const known = read.get(address);
  if (known) {
    return known;
  }
  const file = fileOf(address);
  const html = builtText(file);
  const window = new Window({
    url: `http://localhost${address}`,
    settings: {
      disableJavaScriptFileLoading: true,
      disableCSSFileLoading: true,
      disableIframePageLoading: true,
      disableComputedStyleRendering: true,
    },
  });
  window.document.write(html);
  const document = window.document as unknown as Document;
  const main = document.querySelector('main');
  if (!main) {
    throw new Error(`${address} has no main part`);
  }
  const page = { file, html, document, page: within(document.body), main: within(main) };
  read.set(address, page);
  return page;
}

export function builtText(file: string): string {
  const path = join(dist, file);
  if (!existsSync(path)) {
    throw new Error(`The built site has no ${file}: build it with npm run build`);
  }
  return readFileSync(path, 'utf8');
}

export function builtRoutes(): ServerRoutes {
  return JSON.parse(builtText(ROUTES_FILE));
}

export function sitemapPages(): string[] {
  return pathsIn(builtText('sitemap.xml'));
}

/** Pages that the sitemap omits: results of forms that were sent without JavaScript. */
export function unlistedPages(): string[] {
  const { files }: { files: string[] } = JSON.parse(readFileSync(manifestFile, 'utf8'));
  const { variants, gone, notFound } = builtRoutes();
  const others = new Set([...variants, ...gone, ...notFound].map(({ page }) => page));
  const mapped = new Set(sitemapPages());
  return files
    .filter(file => !others.has(file))
    .map(file => (file === 'index.html' ? '/' : `/${file.replace(/\.html$/, '')}`))
    .filter(address => !mapped.has(address));
}

export function textContentsOf(elements: Iterable<Element>): string[] {
  return Array.from(elements, ({ textContent }) => textContent.trim());
}

export function attributesOf(elements: Iterable<Element>, name: string): (string | null)[] {
  return Array.from(elements, element => element.getAttribute(name));
}

function fileOf(address: string): string {
  const { pathname, search } = new URL(address, 'http://localhost');
  const { variants, notFound } = builtRoutes();
  const variant = variants.find(
    ({ path, parameter }) => path === pathname && search === `?${parameter}`,
  );
  const page = pathname.endsWith('.html') ? pathname : `${pathname}.html`;
  const file = pathname === '/' ? 'index.html' : page.slice(1);
  if (variant || existsSync(join(dist, file))) {
    return variant?.page ?? file;
  }
  const longest = notFound
    .filter(({ prefix }) => pathname.startsWith(prefix))
    .toSorted((a, b) => b.prefix.length - a.prefix.length)[0];
  return longest?.page ?? file;
}
