import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EnvironmentConfig, RsbuildConfig, Rspack } from '@rsbuild/core';
import { mergeRsbuildConfig, rspack } from '@rsbuild/core';
import { LOAD_TIMEOUT_MS } from '../kit/src/retry.ts';
import { insertStylesheet, scriptTimeoutPlugin } from './chunk-timeout.ts';
import { esRuntime, hostDefinitions, publicPathOf, remotePlugin } from './federation.ts';
import { brandFile, dist, frontends, root, scratch } from './file-paths.ts';
import type { Remote } from './remote.ts';
import { buildHashOf } from './remote.ts';

type Mode = 'production' | 'development';

export function rsbuildConfig(
  mode: Mode,
  environments: Record<string, EnvironmentConfig>,
): RsbuildConfig {
  // `prerender.ts` writes the pages.
  const tools = mode === 'production' ? { htmlPlugin: false as const } : {};
  // The development server logs its URL at `info`.
  const logLevel = mode === 'production' ? 'warn' : 'info';
  return { root: frontends, mode, logLevel, tools, environments };
}

export function shellConfig(remotes: readonly Remote[]): EnvironmentConfig {
  return mergeRsbuildConfig(baseConfig('shell', dist, '/'), {
    source: { entry: { main: './src/main.tsx' }, define: hostDefinitions(remotes) },
    // Keeps sonner in the toaster's chunk, so that one file fewer can fail to load.
    splitChunks: { cacheGroups: { defaultVendors: false } },
    tools: { rspack: hostOptions() },
  });
}

export function remoteConfig(remote: Remote): EnvironmentConfig {
  const address = publicPathOf(remote);
  return mergeRsbuildConfig(baseConfig(remote.name, join(dist, address), address), {
    source: { define: version(remote) },
    // One stylesheet for the whole remote, however many of its modules a page shows. The group selects by
    // type, because each stylesheet also has a script module with the same file name.
    splitChunks: {
      cacheGroups: {
        // Copies shared code into each module, because a chunk for it adds a file and bytes to a first view.
        default: false,
        styles: { type: 'css/mini-extract', name: 'styles', chunks: 'all', enforce: true },
      },
    },
    // Replaces the default entry, `src/index`.
    tools: { rspack: { entry: {}, plugins: [remotePlugin(remote), compileHint] } },
  });
}

/** Build of a remote without the shell. It bundles the packages that the shell otherwise shares. */
export function standaloneConfig(remote: Remote): EnvironmentConfig {
  return mergeRsbuildConfig(baseConfig(remote.name, join(scratch, remote.name), '/'), {
    source: { entry: { main: './src/standalone.tsx' }, define: version(remote) },
  });
}

/** Server build, which prerenders the pages. It bundles the remotes' sources with the shell. */
export function serverConfig(remotes: readonly Remote[]): EnvironmentConfig {
  return mergeRsbuildConfig(baseConfig('shell', scratch, '/'), withRemoteSources(remotes), {
    source: { entry: { server: './src/server.tsx' } },
    output: {
      target: 'node',
      module: true,
      minify: false,
      emitAssets: false,
      distPath: { js: '', jsAsync: '' },
      filename: { js: '[name].mjs' },
    },
    splitChunks: false,
    tools: { rspack: { target: 'node24' } },
  });
}

/** Replaces the remotes with their sources. Pictures keep the URLs that the remotes' builds give them. */
function withRemoteSources(remotes: readonly Remote[]): EnvironmentConfig {
  return {
    source: { define: { REMOTE_VERSION: JSON.stringify('none') } },
    resolve: {
      alias: {
        [join(frontends, 'shell/src/remote-modules.ts')]: join(
          frontends,
          'shell/src/remote-modules.server.ts',
        ),
        ...Object.fromEntries(remotes.map(({ name }) => [name, join(frontends, name, 'src')])),
      },
    },
    tools: {
      rspack: {
        module: {
          rules: remotes.map(remote => ({
            test: /\.(svg|png|jpg|webp|avif|mp4|webm|vtt)$/,
            include: join(frontends, remote.name, 'src'),
            type: 'asset/resource',
            generator: {
              filename: `assets/[name].[${HASH}][ext]`,
              publicPath: publicPathOf(remote),
              outputPath: publicPathOf(remote).slice(1),
            },
          })),
        },
      },
    },
  };
}

/**
 * Makes V8 compile all functions of a file on a background thread during the load. Otherwise the main thread
 * compiles each function at its first call, and the first view calls most of them
 * (https://v8.dev/blog/explicit-compile-hints).
 */
const compileHint = new rspack.BannerPlugin({
  banner: '//# allFunctionsCalledOnLoad',
  raw: true,
  test: /\.js$/,
  // Runs after the minimizer, which drops comments, and before the hashes of file names are computed.
  stage: rspack.Compilation.PROCESS_ASSETS_STAGE_OPTIMIZE_SIZE + 1,
});

function hostOptions(): Rspack.Configuration {
  const router: Rspack.RuleSetRule = {
    test: /react-router\/dist\/.*\.mjs$/,
    use: join(frontends, 'build/router-loader.ts'),
  };
  return { plugins: [compileHint], module: { rules: [router] } };
}

const HASH = 'contenthash:10';
const KINDS = ['js', 'jsAsync', 'css', 'cssAsync', 'svg', 'font', 'image', 'media', 'assets'];

function baseConfig(name: string, folder: string, address: string): EnvironmentConfig {
  return {
    source: { assetsInclude: /\.vtt$/ },
    dev: { assetPrefix: address },
    output: {
      assetPrefix: address,
      distPath: {
        root: folder,
        ...Object.fromEntries(KINDS.map(kind => [kind, 'assets'])),
      },
      filenameHash: HASH,
      dataUriLimit: 0,
      legalComments: 'none',
      cleanDistPath: false,
    },
    resolve: { alias: { ...esRuntime, [join(root, 'brand.json')]: brandFile } },
    splitChunks: { preset: 'none', chunks: 'async' },
    tools: {
      swc: { jsc: { target: 'es2022', transform: { react: { runtime: 'automatic' } } } },
      cssExtract: { pluginOptions: { insert: insertStylesheet } },
      postcss: {
        postcssOptions: { plugins: ['@tailwindcss/postcss', unusedBasePlugin, siteUrlPlugin] },
      },
      rspack: {
        target: ['web', 'es2022'],
        plugins: [scriptTimeoutPlugin],
        output: { uniqueName: name, chunkLoadTimeout: LOAD_TIMEOUT_MS },
        module: { rules: [articles, searchIndex, toasts] },
        // Paths of exposed modules are relative to the front end.
        context: join(frontends, name),
      },
    },
    performance: { printFileSize: false },
  };
}

/**
 * Removes unused rules of Tailwind's base, because pages inline the stylesheet. No form has date fields or
 * selects, and placeholders have our own colour.
 */
const unusedBasePlugin = {
  postcssPlugin: 'unused-base',
  OnceExit(stylesheet: StyleRules) {
    stylesheet.walkRules(/^(?:::-webkit-(?:date|calendar)|:where\(select)/, rule => {
      rule.remove();
    });
    stylesheet.walkAtRules('supports', rule => {
      if (rule.params.includes('-apple-pay-button')) {
        rule.remove();
      }
    });
  },
};

/** Puts the brand's URL into the stylesheet, whose print rules show the URLs of links. */
const siteUrlPlugin = {
  postcssPlugin: 'site-url',
  // `OnceExit` runs after Tailwind has written the stylesheet.
  OnceExit(stylesheet: StyleRules) {
    const { siteUrl } = JSON.parse(readFileSync(brandFile, 'utf8'));
    stylesheet.walkDecls('--site-url', declaration => {
      declaration.value = JSON.stringify(siteUrl);
    });
  },
};

/** The part of PostCSS's `Root` that the plugins use. */
interface StyleRules {
  walkRules(selector: RegExp, change: (rule: { remove: () => void }) => void): void;
  walkAtRules(name: string, change: (rule: { params: string; remove: () => void }) => void): void;
  walkDecls(name: string, change: (declaration: { value: string }) => void): void;
}

const articles: Rspack.RuleSetRule = {
  test: /\.md$/,
  type: 'javascript/auto',
  use: join(frontends, 'blog/build/post-loader.ts'),
};

const searchIndex: Rspack.RuleSetRule = {
  test: /blog\/src\/search-index\.yaml$/,
  type: 'javascript/auto',
  use: join(frontends, 'blog/build/search-index-loader.ts'),
};

const toasts: Rspack.RuleSetRule = {
  test: /sonner\/dist\/index\.mjs$/,
  use: join(frontends, 'build/adopted-style-loader.ts'),
};

function version(remote: Remote) {
  return { REMOTE_VERSION: JSON.stringify(buildHashOf(remote)) };
}
