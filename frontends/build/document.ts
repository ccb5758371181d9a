import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rspack } from '@rsbuild/core';
import type { Parts } from './compile.ts';
import { dist, frontends } from './places.ts';
import type { Area, Rendered } from './rendered.ts';

/** All that pages are put together from. */
export interface SiteParts {
  shell: Parts;
  remotes: readonly {
    name: string;
    /** What has to be loaded before any of its parts. */
    entry?: string;
    version: string;
    parts: Parts;
  }[];
}

/** The scripts that stand in the pages themselves: two in all of them, one where the application is to start. */
const theme = inline('theme-start.js');
const styleLimit = inline('stylesheet-timeout.js');
const start = inline('app-loader.js');
/** What lets them through the Content Security Policy. */
export const scriptHashes: readonly string[] = [theme, styleLimit, start].map(
  script => `sha256-${createHash('sha256').update(script).digest('base64')}`,
);

/** The whole document of a page. */
export function document(page: Rendered, parts: SiteParts): string {
  const { head, body } = split(page.html);
  const files = filesOf(page, parts);
  return [
    `<!doctype html><html lang="en" data-scripts="${page.scripts}"><head><meta charset="utf-8">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    ...inlineOf(page).map(script => `<script>${script}</script>`),
    ...files.fonts.map(
      font => `<link rel="preload" href="${font}" as="font" type="font/woff2" crossorigin>`,
    ),
    ...styles(page, files),
    ...files.scripts.map(script => `<meta name="script" content="${script}">`),
    ...files.later.map(file => `<meta name="later" content="${file}">`),
    ...versions(page, parts).map(
      ({ name, version }) => `<meta name="remote:${name}" content="${version}">`,
    ),
    '<link rel="icon" href="/favicon.svg" type="image/svg+xml">',
    '<link rel="apple-touch-icon" href="/apple-touch-icon.png">',
    '<link rel="manifest" href="/site.webmanifest">',
    '<link rel="alternate" type="application/atom+xml" href="/blog/feed.xml" title="Blog">',
    ...(page.unscripted ? inPlace(head, page.unscripted.title) : [head]),
    `</head><body><div id="root">${body}</div>`,
    ...(page.unscripted ? [`<noscript>${page.unscripted.html}</noscript>`] : []),
    '</body></html>',
  ].join('');
}

/** The head of a page that another stands in the place of where no script runs. React gives it its own title again. */
function inPlace(head: string, title: string): string[] {
  return [
    head.replace(/<title>.*?<\/title>/, () => title),
    '<noscript><style>#root{display:none}</style></noscript>',
  ];
}

/** A script as it stands in every page: without what only its readers need. */
function inline(file: string): string {
  const script = readFileSync(join(frontends, 'shell/src', file), 'utf8');
  return rspack.experiments.swc.minifySync(script, { mangle: true, compress: true }).code;
}

function inlineOf({ scripts }: Rendered): readonly string[] {
  return scripts === 'none' ? [theme, styleLimit] : [theme, styleLimit, start];
}

/** What the shell's outermost element begins with. */
const START = '<div data-site';

/** React puts a page's title and the like before everything else; they belong into the head. */
function split(html: string) {
  const start = html.indexOf(START);
  if (start < 0) {
    throw new Error(`A page does not begin with ${START}`);
  }
  return { head: html.slice(0, start), body: html.slice(start) };
}

/** Of which builds of remotes the page's HTML is. */
function versions({ areas }: Rendered, { remotes }: SiteParts) {
  return remotes.filter(({ name }) => areas.some(({ remote }) => remote === name));
}

function filesOf(page: Rendered, parts: SiteParts) {
  const main = parts.shell['main'] ?? [];
  const chunk = page.chunk ? (parts.shell[page.chunk] ?? []) : [];
  const areas = page.areas.map(area => filesOfArea(area, parts));
  return {
    fonts: main.filter(is('woff2')).filter(font => font.includes('/geist-latin')),
    styles: [...main, ...chunk].filter(is('css')),
    // Linked, because whoever loads a remote looks for its stylesheet among the page's links.
    remoteStyles: areas.flatMap(area => area.styles),
    ...(page.scripts === 'none'
      ? { scripts: [], later: [] }
      : {
          scripts: main.filter(is('js')),
          later: [...chunk.filter(is('js')), ...areas.flatMap(area => area.scripts)],
        }),
  };
}

/**
 * Within the page the shell's styles save a trip before the first paint. On a remote's page, which
 * waits for another stylesheet anyway, they are fetched beside it: so the page is small enough for a connection's
 * first flight (about 14 kB).
 */
function styles(page: Rendered, { styles, remoteStyles }: ReturnType<typeof filesOf>): string[] {
  const link = (style: string) => `<link rel="stylesheet" href="${style}">`;
  const own = page.areas.some(({ weight }) => weight === 'page')
    ? styles.map(link)
    : [`<style>${styles.map(textOf).join('')}</style>`];
  return [...own, ...remoteStyles.map(link)];
}

/** A remote's scripts are asked for ahead only where they bring what the visitor came for. */
function filesOfArea({ remote, module, weight }: Area, parts: SiteParts) {
  const found = parts.remotes.find(({ name }) => name === remote);
  const files = found?.parts[module];
  if (!(found && files)) {
    throw new Error(`${remote} does not expose ${module}`);
  }
  const scripts = [...(found.entry ? [found.entry] : []), ...files.filter(is('js'))];
  return { styles: files.filter(is('css')), scripts: weight === 'page' ? scripts : [] };
}

function textOf(address: string): string {
  return readFileSync(join(dist, address), 'utf8');
}

function is(extension: string) {
  return (file: string) => file.endsWith(`.${extension}`);
}
