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

/** Exports of the server build (`shell/src/server.tsx`). */
interface Server extends Pick<ServerRoutes, 'redirects' | 'notFound' | 'variants'> {
  /** Paths of the pages in the sitemap. */
  pages: readonly string[];
  /** Date of a page's last change, by path. */
  lastModified: Readonly<Record<string, string>>;
  /** Paths of the pages that the sitemap omits. */
  unlisted: readonly string[];
  /** Paths that answer 410 from the time `since`. The response's page is rendered at the path `shownBy`. */
  gone: readonly (ServerRoutes['gone'][number] & { shownBy: string })[];
  brand: Brand;
  feeds: () => Promise<Record<string, string>>;
  render: (path: string) => Promise<Rendered>;
}

/**
 * Prerenders the pages for which `needsTo` is true, and writes sitemap, feeds and routing table. Returns the
 * files of all pages, and the number of pages written.
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
    // All unknown paths below a prefix render the same page.
    ...notFound.map(({ prefix, page }): [string, string] => [page, `${prefix}nothing-here`]),
  ];
}

async function write(file: string, content: string) {
  const target = join(dist, file);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, content);
}
