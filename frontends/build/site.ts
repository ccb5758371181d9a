import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Configuration, MultiStats, StatsCompilation } from '@rspack/core';
import { rspack } from '@rspack/core';
import { compressIn } from './compress.ts';
import { remote, server, shell } from './configurations.ts';
import { document, scriptHashes } from './document.ts';
import { addressOf } from './federation.ts';
import { dist, frontends, scratch } from './places.ts';
import { versionOf } from './remote.ts';
import { remotes } from './remotes.ts';
import type { Rendered } from './rendered.ts';

/** What the build needs of the shell's server build. */
interface Server {
  /** Every address that gets a page of its own. */
  pages: readonly string[];
  /** Pages for addresses that name nothing, by the prefix they stand for. */
  notFound: readonly { prefix: string; page: string }[];
  /** Pages that a parameter of the query chooses instead of the one at their address. */
  variants: readonly { path: string; parameter: string; page: string }[];
  redirects: readonly { from: string; to: string }[];
  /** Files by which machines find their way, by name. */
  signposts: (pages: readonly string[], today: Date) => Record<string, string>;
  /** The blog's Atom feed. */
  feed: string;
  render: (path: string) => Promise<Rendered>;
}

const started = Date.now();
await Promise.all([dist, scratch].map(folder => rm(folder, { recursive: true, force: true })));
const stats = await compile([
  shell('production', remotes),
  ...remotes.map(which => remote('production', which)),
  server('production', remotes),
]);
const site: Server = await import(pathToFileURL(join(scratch, 'server.mjs')).href);
await cp(join(frontends, 'shell/public'), dist, { recursive: true });

const parts = {
  shell: partsOf('shell'),
  remotes: remotes.map(which => ({
    name: which.name,
    address: addressOf(which),
    version: versionOf(which),
    parts: partsOf(which.name),
  })),
};
for (const path of site.pages) {
  await writePage(fileOf(path), path);
}
for (const { path, parameter, page } of site.variants) {
  await writePage(page, `${path}?${parameter}`);
}
for (const { prefix, page } of site.notFound) {
  // Any address below the prefix that names nothing shows what all of them show.
  await writePage(page, `${prefix}nothing-here`);
}
for (const [name, content] of Object.entries({
  ...site.signposts(site.pages, new Date()),
  'blog/feed.xml': site.feed,
})) {
  await write(name, content);
}
await writeFile(
  join(dist, '_routes.json'),
  JSON.stringify({
    redirects: site.redirects,
    notFound: site.notFound,
    variants: site.variants,
    scriptHashes,
    frameSources: ['https://www.openstreetmap.org'],
  }),
);
await compressIn(dist);
const pages = site.pages.length + site.variants.length + site.notFound.length;
console.log(`Built ${pages} pages in ${((Date.now() - started) / 1000).toFixed(1)} s`);

async function writePage(file: string, path: string) {
  await write(file, document(await site.render(path), parts));
}

async function write(file: string, content: string) {
  const target = join(dist, file);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, content);
}

function fileOf(path: string): string {
  return path === '/' ? 'index.html' : `${path.slice(1)}.html`;
}

/** The files of each named chunk, its addresses from the site's root. */
function partsOf(name: string): Record<string, readonly string[]> {
  const { publicPath, namedChunkGroups = {} } = statsOf(name);
  return Object.fromEntries(
    Object.entries(namedChunkGroups).map(([chunk, { assets = [], auxiliaryAssets = [] }]) => [
      chunk,
      [...assets, ...auxiliaryAssets].map(asset => `${publicPath}${asset.name}`),
    ]),
  );
}

function statsOf(name: string): StatsCompilation {
  const found = stats.stats.find(({ compilation }) => compilation.name === name);
  if (!found) {
    throw new Error(`Nothing was built that is called ${name}`);
  }
  return found.toJson({
    all: false,
    chunkGroups: true,
    chunkGroupAuxiliary: true,
    publicPath: true,
  });
}

function compile(configurations: Configuration[]): Promise<MultiStats> {
  const compiler = rspack(configurations);
  return new Promise((resolve, reject) => {
    compiler.run((failure, result) => {
      const done =
        failure ?? (result?.hasErrors() ? new Error(result.toString('errors-only')) : null);
      if (done || !result) {
        reject(done);
      } else {
        compiler.close(() => resolve(result));
      }
    });
  });
}
