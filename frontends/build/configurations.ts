import { join } from 'node:path';
import type { Configuration, RuleSetRule } from '@rspack/core';
import { DefinePlugin } from '@rspack/core';
import { addressOf, esRuntime, guest, host } from './federation.ts';
import { brandFile, dist, frontends, root, scratch } from './places.ts';
import type { Remote } from './remote.ts';
import { versionOf } from './remote.ts';

/** What it is built for. */
export type Mode = 'production' | 'development';

/** What browsers load: the shell. */
export function shell(mode: Mode, remotes: readonly Remote[]): Configuration {
  return {
    ...common(mode, 'shell', dist, '/'),
    entry: { main: './src/main.tsx' },
    plugins: [host(remotes)],
  };
}

/** What browsers load: a remote. */
export function remote(mode: Mode, which: Remote): Configuration {
  const address = addressOf(which);
  return {
    ...common(mode, which.name, join(dist, address), address),
    entry: {},
    // One stylesheet for the whole remote, however many of its modules a page shows.
    optimization: {
      splitChunks: {
        cacheGroups: { styles: { test: /\.css$/, name: 'styles', chunks: 'all', enforce: true } },
      },
    },
    plugins: [guest(which), version(which)],
  };
}

/** A remote without the shell, and with all that the shell would bring. */
export function alone(mode: Mode, which: Remote): Configuration {
  return {
    ...common(mode, which.name, join(scratch, which.name), '/'),
    entry: { main: './src/alone.tsx' },
    plugins: [version(which)],
  };
}

/** What the build runs to render the pages: the shell with the remotes' sources in it. */
export function server(mode: Mode, remotes: readonly Remote[]): Configuration {
  const base = common(mode, 'shell', scratch, '/');
  const ofRemotes = remotes.map(
    (which): RuleSetRule => ({
      ...asset(addressOf(which)),
      include: join(frontends, which.name, 'src'),
    }),
  );
  return {
    ...base,
    name: 'server',
    target: 'node24',
    entry: { server: './src/server.tsx' },
    output: { ...base.output, filename: '[name].mjs', library: { type: 'module' }, module: true },
    resolve: withSources(base, remotes),
    module: {
      rules: [
        typescript,
        articles,
        { test: /\.css$/, type: 'asset/source' },
        { oneOf: [...ofRemotes, asset('/')] },
      ],
    },
    optimization: { minimize: false, splitChunks: false },
    plugins: [new DefinePlugin({ REMOTE_VERSION: JSON.stringify(NO_REMOTE) })],
  };
}

/** The version of remotes that are no remotes, but compiled into what loads them. */
export const NO_REMOTE = 'none';

/** What browsers would load if there were no remotes: all front ends as one. To see what federation costs. */
export function oneBundle(mode: Mode, remotes: readonly Remote[]): Configuration {
  const base = common(mode, 'shell', dist, '/');
  const ofRemotes = remotes.map(
    (which): RuleSetRule => ({
      ...IMAGES_AND_FONTS,
      include: join(frontends, which.name, 'src'),
      type: 'asset/resource',
      generator: { publicPath: addressOf(which), outputPath: addressOf(which).slice(1) },
    }),
  );
  return {
    ...base,
    entry: { main: './src/main.tsx' },
    resolve: withSources(base, remotes),
    module: { rules: [...(base.module?.rules ?? []), ...ofRemotes] },
    plugins: [new DefinePlugin({ REMOTE_VERSION: JSON.stringify(NO_REMOTE) })],
  };
}

/** Finds the remotes' sources in the place of the remotes. */
function withSources({ resolve }: Configuration, remotes: readonly Remote[]) {
  return {
    ...resolve,
    alias: {
      ...resolve?.alias,
      [join(frontends, 'shell/src/remotes.ts')]: join(frontends, 'shell/src/remotes.server.ts'),
      ...Object.fromEntries(remotes.map(({ name }) => [name, join(frontends, name, 'src')])),
    },
    extensions: ['.tsx', '.ts', '...'],
  };
}

function common(mode: Mode, name: string, folder: string, address: string): Configuration {
  const names = mode === 'production' ? '[name].[contenthash:10]' : '[name]';
  return {
    name,
    mode,
    context: join(frontends, name),
    target: ['web', 'es2022'],
    devtool: mode === 'production' ? false : 'cheap-module-source-map',
    output: {
      path: folder,
      publicPath: address,
      uniqueName: name,
      filename: `assets/${names}.js`,
      cssFilename: `assets/${names}.css`,
      assetModuleFilename: ASSETS,
    },
    module: {
      rules: [
        typescript,
        articles,
        { test: /\.css$/, type: 'css/auto', use: [postcss] },
        { ...IMAGES_AND_FONTS, type: 'asset/resource' },
      ],
    },
    resolve: { alias: { ...esRuntime, [join(root, 'brand.json')]: brandFile } },
    performance: false,
    stats: 'errors-warnings',
  };
}

const ASSETS = 'assets/[name].[contenthash:10][ext]';
const IMAGES_AND_FONTS: RuleSetRule = { test: /\.(svg|png|jpg|webp|avif|woff2|mp4|webm|vtt)$/ };

const typescript: RuleSetRule = {
  test: /\.tsx?$/,
  use: {
    loader: 'builtin:swc-loader',
    options: {
      jsc: {
        parser: { syntax: 'typescript', tsx: true },
        target: 'es2022',
        transform: { react: { runtime: 'automatic' } },
      },
    },
  },
};

const articles: RuleSetRule = {
  test: /\.md$/,
  type: 'javascript/auto',
  use: join(frontends, 'blog/build/post-loader.ts'),
};

const postcss = {
  loader: 'postcss-loader',
  options: { postcssOptions: { plugins: ['@tailwindcss/postcss'] } },
};

/** A file that the browsers' build emits; here only its address counts. */
function asset(publicPath: string): RuleSetRule {
  return {
    ...IMAGES_AND_FONTS,
    type: 'asset/resource',
    generator: { emit: false, publicPath, filename: ASSETS },
  };
}

function version(which: Remote) {
  return new DefinePlugin({ REMOTE_VERSION: JSON.stringify(versionOf(which)) });
}
