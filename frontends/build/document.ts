import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rspack } from '@rsbuild/core';
import type { ChunkFiles } from './compile.ts';
import { dist, frontends } from './file-paths.ts';
import type { RemoteModuleUse, Rendered } from './rendered.ts';

/** Build manifest: the files of each front end, by chunk. */
export interface BuildManifest {
  shell: ChunkFiles;
  remotes: readonly {
    name: string;
    /** Entry file of the remote, loaded before the remote's chunks. */
    entry?: string;
    version: string;
    chunks: ChunkFiles;
  }[];
}

const IN_ALL_PAGES = ['theme-init.js', 'stylesheet-timeout.js', 'dropped-files.js'];
const scriptOfAll = inline(IN_ALL_PAGES);
const scriptOfApplication = inline([
  ...IN_ALL_PAGES,
  'early-press.js',
  'app-loader.js',
  'trusted-types.js',
]);

/** Hides a page that its `noscript` fallback replaces. */
const HIDDEN_PAGE = '#root{display:none}';

export const scriptHashes: readonly string[] = [scriptOfAll, scriptOfApplication].map(hash);

export function styleHashes({ shell }: BuildManifest): readonly string[] {
  const stylesheets = new Set(Object.values(shell).flat().filter(is('css')));
  return [...Array.from(stylesheets, textOf), HIDDEN_PAGE].map(hash);
}

export function renderDocument(page: Rendered, manifest: BuildManifest): string {
  const { head, body } = splitHeadAndBody(page.html);
  const files = filesOf(page, manifest);
  return [
    `<!doctype html><html lang="en" data-scripts="${page.scripts}"><head><meta charset="utf-8">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<script>${page.scripts === 'none' ? scriptOfAll : scriptOfApplication}</script>`,
    ...files.fonts.map(
      font => `<link rel="preload" href="${font}" as="font" type="font/woff2" crossorigin>`,
    ),
    ...styles(page, files),
    ...files.scripts.map(script => `<meta name="app-script" content="${script}">`),
    ...files.deferredPreloads.map(file => `<meta name="deferred-preload" content="${file}">`),
    ...versions(page, manifest).map(
      ({ name, version }) => `<meta name="remote:${name}" content="${version}">`,
    ),
    '<link rel="icon" href="/favicon.svg" type="image/svg+xml">',
    '<link rel="apple-touch-icon" href="/apple-touch-icon.png">',
    '<link rel="manifest" href="/site.webmanifest">',
    '<link rel="alternate" type="application/atom+xml" href="/blog/feed.xml" title="Blog">',
    '<link rel="alternate" type="application/feed+json" href="/blog/feed.json" title="Blog">',
    ...(page.noscript ? inPlace(head, page.noscript.title) : [head]),
    `</head><body><div id="root">${body}</div>`,
    ...(page.noscript ? [`<noscript>${page.noscript.html}</noscript>`] : []),
    '</body></html>',
  ].join('');
}

/** Head of a page with a `noscript` fallback. It has the fallback's title until React sets the page's own. */
function inPlace(head: string, title: string): string[] {
  return [
    head.replace(/<title>.*?<\/title>/, () => title),
    `<noscript><style>${HIDDEN_PAGE}</style></noscript>`,
  ];
}

/** Minifies files into one inline script. Each file wraps its declarations, so that names do not collide. */
function inline(files: readonly string[]): string {
  const scripts = files.map(file => readFileSync(join(frontends, 'shell/src', file), 'utf8'));
  return rspack.experiments.swc.minifySync(scripts.join('\n'), { mangle: true, compress: true })
    .code;
}

const SHELL_ROOT_TAG = '<div data-site';

/** React renders title, meta and link elements before the shell's root element. They belong in the head. */
function splitHeadAndBody(html: string) {
  const start = html.indexOf(SHELL_ROOT_TAG);
  if (start < 0) {
    throw new Error(`A page does not begin with ${SHELL_ROOT_TAG}`);
  }
  return { head: withoutSlashes(html.slice(0, start)), body: withoutSlashes(html.slice(start)) };
}

/** Void elements need no slash (HTML Living Standard, 13.1.2.1). Each byte of the first TCP flight counts. */
function withoutSlashes(html: string): string {
  return html.replace(/(<(?:br|hr|img|input|link|meta|source)\b[^>]*)\/>/g, '$1>');
}

/** Builds of the remotes that the page's HTML contains. */
function versions({ remoteModuleUses }: Rendered, { remotes }: BuildManifest) {
  return remotes.filter(({ name }) => remoteModuleUses.some(({ remote }) => remote === name));
}

function filesOf(page: Rendered, manifest: BuildManifest) {
  const main = manifest.shell['main'] ?? [];
  const chunk = page.chunk ? (manifest.shell[page.chunk] ?? []) : [];
  const modules = page.remoteModuleUses.map(use => filesOfModule(use, manifest));
  return {
    fonts: main.filter(is('woff2')).filter(font => font.includes('/geist-latin')),
    styles: [...main, ...chunk].filter(is('css')),
    // Never inlined, because the bundler's runtime looks for a remote's stylesheet among the page's links.
    remoteStyles: modules.flatMap(module => module.styles),
    ...(page.scripts === 'none'
      ? { scripts: [], deferredPreloads: [] }
      : {
          scripts: main.filter(is('js')),
          deferredPreloads: [
            ...chunk.filter(is('js')),
            ...modules.flatMap(module => module.scripts),
          ],
        }),
  };
}

/**
 * Inlines the shell's CSS (critical CSS), which saves a round trip before the first paint. A remote's page
 * waits for the remote's stylesheet anyway. So the page also links the shell's CSS, and its HTML fits TCP's
 * initial congestion window (about 14 kB).
 */
function styles(page: Rendered, { styles, remoteStyles }: ReturnType<typeof filesOf>): string[] {
  const link = (style: string) => `<link rel="stylesheet" href="${style}">`;
  const own = page.remoteModuleUses.some(({ priority }) => priority === 'high')
    ? styles.map(link)
    : styles.map(style => `<style>${textOf(style)}</style>`);
  return [...own, ...remoteStyles.map(link)];
}

/** Preloads a remote's scripts and the federation runtime only for the page's main content. */
function filesOfModule({ remote, module, priority }: RemoteModuleUse, manifest: BuildManifest) {
  const found = manifest.remotes.find(({ name }) => name === remote);
  const files = found?.chunks[module];
  if (!(found && files)) {
    throw new Error(`${remote} does not expose ${module}`);
  }
  const runtime = manifest.shell['federation'] ?? [];
  const entry = found.entry ? [found.entry] : [];
  const scripts = [...runtime, ...entry, ...files].filter(is('js'));
  return { styles: files.filter(is('css')), scripts: priority === 'high' ? scripts : [] };
}

function hash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

function textOf(address: string): string {
  return readFileSync(join(dist, address), 'utf8');
}

function is(extension: string) {
  return (file: string) => file.endsWith(`.${extension}`);
}
