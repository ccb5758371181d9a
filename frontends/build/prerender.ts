import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Brand } from '../kit/src/brand.ts';
import type { BuildManifest } from './document.ts';
import { renderDocument, scriptHashes, styleHashes } from './document.ts';
import { dist, scratch } from './file-paths.ts';
import type { Rendered } from './rendered.ts';
import type { ServerRoutes } from './routes-file.ts';
import { ROUTES_FILE } from './routes-file.ts';
import { discoveryFiles } from './sitemap.ts';

/** Exports of the shell's server build. */
interface Server extends Pick<ServerRoutes, 'redirects' | 'notFound' | 'variants'> {
  /** Every address that gets a page of its own, and a place in the sitemap. */
  pages: readonly string[];
  /** The days on which pages last changed, by address. */
  lastModified: Readonly<Record<string, string>>;
  /** Every address that gets a page of its own which the sitemap does not list. */
  unlisted: readonly string[];
  /** Addresses that are gone from a time on, and what shows the page that says so. */
  gone: readonly (ServerRoutes['gone'][number] & { shownBy: string })[];
  /** Brand of the site. */
  brand: Brand;
  /** The blog's feeds, by file. */
  feeds: () => Promise<Record<string, string>>;
  render: (path: string) => Promise<Rendered>;
}

/**
 * Prerenders the pages, or only those that need to be, and writes what machines read beside them. Says which pages there
 * are, and how many of them were written.
 */
export async function prerenderPages(
  manifest: BuildManifest,
  needsTo: (page: Rendered) => boolean = () => true,
): Promise<{ files: readonly string[]; written: number }> {
  const site: Server = await import(pathToFileURL(join(scratch, 'server.mjs')).href);
  let written = 0;
  const files = filesOf(site);
  for (const [file, path] of files) {
    const page = await site.render(path);
    if (needsTo(page)) {
      await write(file, renderDocument(page, manifest));
      written += 1;
    }
  }
  for (const [name, content] of Object.entries({
    ...discoveryFiles(site, new Date()),
    ...(await site.feeds()),
    [ROUTES_FILE]: JSON.stringify({
      redirects: site.redirects,
      notFound: site.notFound,
      variants: site.variants,
      gone: site.gone.map(({ path, since, page }) => ({ path, since, page })),
      scriptHashes,
      styleHashes: styleHashes(manifest),
      trustedTypePolicies: ['default', 'article'],
      frameSources: ['https://www.openstreetmap.org'],
    } satisfies ServerRoutes),
  })) {
    await write(name, content);
  }
  return { files: files.map(([file]) => file), written };
}

/** Every page's file, and an address that shows the page. */
function filesOf({
  pages,
  unlisted,
  variants,
  gone,
  notFound,
}: Server): [file: string, path: string][] {
  return [
    ...[...pages, ...unlisted].map((path): [string, string] => [
      path === '/' ? 'index.html' : `${path.slice(1)}.html`,
      path,
    ]),
    ...variants.map(({ path, parameter, page }): [string, string] => [
      page,
      `${path}?${parameter}`,
    ]),
    ...gone.map(({ page, shownBy }): [string, string] => [page, shownBy]),
    // Any address below the prefix that names nothing shows what all of them show.
    ...notFound.map(({ prefix, page }): [string, string] => [page, `${prefix}nothing-here`]),
  ];
}

async function write(file: string, content: string) {
  const target = join(dist, file);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, content);
}
