import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Stats } from '@rspack/core';
import { rspack } from '@rspack/core';
import { afterEach, beforeEach, expect, test } from 'vitest';

// The tests build the real `src/posts.ts` with other articles, in a temporary folder.
let blog: string;

beforeEach(() => {
  blog = mkdtempSync(join(tmpdir(), 'blog-'));
  for (const folder of ['posts', 'src/pictures']) {
    mkdirSync(join(blog, folder), { recursive: true });
  }
  cpSync(join(import.meta.dirname, '../src/posts.ts'), join(blog, 'src/posts.ts'));
});

afterEach(() => rmSync(blog, { recursive: true }));

function write(id: string, date: string, body = 'Words.') {
  draw(id);
  writeFileSync(
    join(blog, `posts/${id}.md`),
    `---\nid: ${id}\ntitle: ${id}\nexcerpt: E\ndate: "${date}"\ncategory: Privacy\nauthor: CTO\nauthorTitle: T\nimage: ${id}.svg\npictureAlt: P\n---\n${body}\n`,
  );
}

function draw(id: string) {
  writeFileSync(join(blog, `src/pictures/${id}.svg`), '<svg xmlns="http://www.w3.org/2000/svg"/>');
}

function build(): Promise<Stats> {
  const compiler = rspack({
    context: blog,
    mode: 'production',
    target: 'node24',
    entry: { posts: './src/posts.ts' },
    output: { path: join(blog, 'out'), filename: '[name].cjs', library: { type: 'commonjs2' } },
    module: {
      rules: [
        {
          test: /\.ts$/,
          loader: 'builtin:swc-loader',
          options: { jsc: { parser: { syntax: 'typescript' } } },
        },
        {
          test: /\.md$/,
          type: 'javascript/auto',
          use: join(import.meta.dirname, 'post-loader.ts'),
        },
        {
          test: /\.svg$/,
          type: 'asset/resource',
          generator: { publicPath: '/', filename: '[name][ext]' },
        },
      ],
    },
  });
  return new Promise((resolve, reject) => {
    compiler.run((failure, stats) => {
      compiler.close(() => (stats ? resolve(stats) : reject(failure)));
    });
  });
}

test('a new file becomes a sorted article with its text', async () => {
  write('older', '2025-01-01');
  write('newest', '2025-03-01', '## Why\n\nBecause.');
  write('newer', '2025-02-01');
  expect((await build()).hasErrors()).toBe(false);

  const { posts, loadText } = createRequire(import.meta.url)(join(blog, 'out/posts.cjs'));
  expect(posts.map(({ id }: { id: string }) => id)).toEqual(['newest', 'newer', 'older']);
  expect(posts[0]).toMatchObject({ picture: '/newest.svg', readMinutes: 1 });
  expect(await loadText('newest')).toMatchObject({ headings: [{ id: 'why', text: 'Why' }] });
  await expect(loadText('no-such')).rejects.toThrow('no-such');
});

test('each text is a separate chunk', async () => {
  write('first', '2025-01-01');
  write('second', '2025-02-01');
  await build();
  const files = readdirSync(join(blog, 'out'));
  expect(files).toEqual(expect.arrayContaining(['post-first.cjs', 'post-second.cjs']));
});

test('an article without an image shows the newsstand', async () => {
  write('bare', '2025-01-01');
  const file = join(blog, 'posts/bare.md');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^(image|pictureAlt).*\n/gm, ''));
  draw('kiosk');
  expect((await build()).hasErrors()).toBe(false);
  const { posts } = createRequire(import.meta.url)(join(blog, 'out/posts.cjs'));
  expect(posts[0]).toMatchObject({ picture: '/kiosk.svg' });
  expect(posts[0].pictureAlt).toContain('newsstand');
});

test('a figure needs its picture file and gets its URL', async () => {
  write('drawn', '2025-01-01', '![A box.](box.svg)');
  expect((await build()).toString('errors-only')).toContain('box.svg');
  draw('box');
  expect((await build()).hasErrors()).toBe(false);
  const { loadText } = createRequire(import.meta.url)(join(blog, 'out/posts.cjs'));
  expect((await loadText('drawn')).html).toContain('<img src="/box.svg" alt="A box."');
});

test('a missing image fails the build with a clear error', async () => {
  write('bare', '2025-01-01');
  rmSync(join(blog, 'src/pictures/bare.svg'));
  const said = (await build()).toString('errors-only');
  expect(said).toContain(
    'bare.md names an image that is not there: frontends/blog/src/pictures/bare.svg',
  );
});
