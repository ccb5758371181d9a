import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { dist, manifestFile, root } from '../../build/file-paths.ts';
import { hashOf } from '../../build/remote.ts';
import { remotes } from '../../build/remotes.ts';
import { checkout } from './checkout.ts';

// Sites whose blog is built from changed sources, for tests of releases and of shared packages.

const run = promisify(execFile);
const folder = join(root, 'target/modified-builds');
const stampFile = join(folder, 'stamp');
/** The oldest React that the blog works with. */
const OLDEST_REACT = '19.2.0';

export const TITLE = 'A camera that was only dusty';
/** Text that the release puts into an existing article. */
export const CHANGED = 'A shop sleeps through';
const POST = `---
id: dusty
title: ${TITLE}
excerpt: Before anything intelligent, a cloth.
date: "2026-01-15"
category: Technology
author: CTO
authorTitle: Chief Technology Officer
---

Somebody wiped the lens, and the whole fleet of models improved overnight.
`;

type Change = (frontends: string) => Promise<void>;

/** Changes to version requirements. Of each changed checkout, only the blog is built, with an old React. */
const CONTRACTS = {
  'kit-0.1.7': frontends => edit(join(frontends, 'kit/package.json'), withVersion('0.1.7')),
  'react-20': frontends => edit(join(frontends, 'blog/package.json'), wanting('react', '^20.0.0')),
} as const satisfies Record<string, Change>;

export type ModifiedBuild =
  | keyof typeof CONTRACTS
  | 'blog-swapped'
  | 'blog-released'
  | 'blog-without-post';

export function modifiedBuild(name: ModifiedBuild): string {
  return join(folder, name);
}

/** Builds all sites in parallel, unless existing ones have the same inputs. */
export async function createModifiedBuilds(): Promise<void> {
  const stamp = stampOf();
  if (existsSync(stampFile) && (await readFile(stampFile, 'utf8')) === stamp) {
    return;
  }
  await rm(folder, { recursive: true, force: true });
  const contracts = Object.entries(CONTRACTS) as [keyof typeof CONTRACTS, Change][];
  await Promise.all([
    release(),
    ...contracts.map(([name, change]) => withChangedBlog(name, change)),
  ]);
  await writeFile(stampFile, stamp);
}

async function withChangedBlog(name: keyof typeof CONTRACTS, change: Change) {
  const sources = checkout({ react: 'react-oldest' });
  try {
    await change(join(sources.folder, 'frontends'));
    const blog = createRequire(join(sources.folder, 'frontends/blog/package.json'));
    const { version } = blog('react');
    if (version !== OLDEST_REACT) {
      throw new Error(`The blog is compiled with React ${version}, not ${OLDEST_REACT}`);
    }
    await swapped(sources.folder, name, 'kept');
  } finally {
    sources.remove();
  }
}

/** Builds three sites: a new post in the blog's files only, a new post also in pages, the post removed. */
async function release() {
  const sources = checkout();
  try {
    const blog = join(sources.folder, 'frontends/blog');
    await writeFile(join(blog, 'posts/dusty.md'), POST);
    await edit(join(blog, 'posts/smart-home.md'), text =>
      text.replace('A shop closes in', CHANGED),
    );
    await swapped(sources.folder, 'blog-swapped', 'gone');
    await copy(modifiedBuild('blog-swapped'), modifiedBuild('blog-released'));
    await build(sources.folder, 'release.ts', modifiedBuild('blog-released'));
    await rm(join(blog, 'posts/dusty.md'));
    await copy(modifiedBuild('blog-released'), modifiedBuild('blog-without-post'));
    await build(sources.folder, 'release.ts', modifiedBuild('blog-without-post'));
  } finally {
    sources.remove();
  }
}

/**
 * Puts a blog from these sources into a copy of the built site. `kept` leaves the former files for open
 * pages.
 */
async function swapped(sources: string, name: ModifiedBuild, former: 'kept' | 'gone') {
  const next = join(sources, 'next');
  await build(sources, 'build-remote.ts', next);
  await copy(dist, modifiedBuild(name));
  const remote = join(modifiedBuild(name), 'remotes/blog');
  if (former === 'gone') {
    await rm(remote, { recursive: true });
  }
  await cp(join(next, 'remotes/blog'), remote, { recursive: true });
}

async function copy(from: string, to: string) {
  await cp(from, to, { recursive: true });
  await cp(`${from}.manifest.json`, `${to}.manifest.json`);
}

function build(sources: string, program: string, out: string) {
  return run(process.execPath, [join(sources, 'frontends/build', program), 'blog'], {
    env: { ...process.env, SITE_OUT: out },
  });
}

async function edit(file: string, change: (text: string) => string) {
  const text = await readFile(file, 'utf8');
  const changed = change(text);
  if (changed === text) {
    throw new Error(`Nothing is changed in ${file}`);
  }
  await writeFile(file, changed);
}

function withVersion(version: string) {
  return (file: string) => JSON.stringify({ ...JSON.parse(file), version });
}

function wanting(name: string, range: string) {
  return (file: string) => {
    const { peerDependencies, ...rest } = JSON.parse(file);
    return JSON.stringify({ ...rest, peerDependencies: { ...peerDependencies, [name]: range } });
  };
}

/** Hash of all inputs: the built site, the sources of the front ends, and this file. */
function stampOf(): string {
  return createHash('sha256')
    .update(readFileSync(manifestFile))
    .update(hashOf(['shell', ...remotes.map(({ name }) => name), 'kit', 'build']))
    .update(readFileSync(import.meta.filename))
    .digest('hex');
}
