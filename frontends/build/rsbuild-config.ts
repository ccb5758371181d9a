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

/** Build mode. */
type Mode = 'production' | 'development';

/** Rsbuild configuration of several environments, each of which knows itself what it is made from. */
export function rsbuildConfig(
  mode: Mode,
  environments: Record<string, EnvironmentConfig>,
): RsbuildConfig {
  // The site's pages are written by `prerender.ts`.
  const tools = mode === 'production' ? { htmlPlugin: false as const } : {};
  // A development server says where it listens.
  const logLevel = mode === 'production' ? 'warn' : 'info';
  return { root: frontends, mode, logLevel, tools, environments };
}

/** The shell, as browsers load it. */
export function shellConfig(remotes: readonly Remote[]): EnvironmentConfig {
  return mergeRsbuildConfig(baseConfig('shell', dist, '/'), {
    source: { entry: { main: './src/main.tsx' }, define: hostDefinitions(remotes) },
    // What shows toasts brings its package along: one file less that can be lost.
    splitChunks: { cacheGroups: { defaultVendors: false } },
    tools: { rspack: hostOptions() },
  });
}

/** A remote, as browsers load it. */
export function remoteConfig(remote: Remote): EnvironmentConfig {
  const address = publicPathOf(remote);
  return mergeRsbuildConfig(baseConfig(remote.name, join(dist, address), address), {
    source: { define: version(remote) },
    // One stylesheet for the whole remote, however many of its modules a page shows. Not by the name of the file, which
    // the script that stands for a stylesheet has, too.
    splitChunks: {
      cacheGroups: {
        // Each module brings what it needs: one file less for the first view of a page, and smaller in all.
        default: false,
        styles: { type: 'css/mini-extract', name: 'styles', chunks: 'all', enforce: true },
      },
    },
    // Without an entry it would be `src/index`.
    tools: { rspack: { entry: {}, plugins: [remotePlugin(remote), compileHint] } },
  });
}

/** A remote without the shell, and with all that the shell would bring. */
export function standaloneConfig(remote: Remote): EnvironmentConfig {
  return mergeRsbuildConfig(baseConfig(remote.name, join(scratch, remote.name), '/'), {
    source: { entry: { main: './src/standalone.tsx' }, define: version(remote) },
  });
}

/** The server build, which prerenders the pages: the shell with the remotes' sources in it. */
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

/** Finds the remotes' sources in the place of the remotes, and their pictures where the remotes have them. */
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
 * Has V8 compile all functions of a file on another thread while it is loaded (https://v8.dev/blog/explicit-compile-hints).
 * Each would otherwise be compiled on the main thread when it is first called, and most are called by the first view.
 */
const compileHint = new rspack.BannerPlugin({
  banner: '//# allFunctionsCalledOnLoad',
  raw: true,
  test: /\.js$/,
  // After the minimizer, which drops comments, and before names get their hashes.
  stage: rspack.Compilation.PROCESS_ASSETS_STAGE_OPTIMIZE_SIZE + 1,
});

/** What the first chunk is made by, which every page loads. */
function hostOptions(): Rspack.Configuration {
  const router: Rspack.RuleSetRule = {
    test: /react-router\/dist\/.*\.mjs$/,
    use: join(frontends, 'build/router-loader.ts'),
  };
  return { plugins: [compileHint], module: { rules: [router] } };
}

const HASH = 'contenthash:10';
/** All files of code, styles, pictures and fonts lie in one folder. */
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
        // Federation's modules are relative to their front end.
        context: join(frontends, name),
      },
    },
    performance: { printFileSize: false },
  };
}

/**
 * Leaves out what Tailwind's base says of fields for dates and of lists to choose from, which no form has, and of placeholders, which
 * have a colour of ours: the stylesheet is in every page's HTML.
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

/** Puts the brand's address into stylesheets, which say on paper where links lead. */
const siteUrlPlugin = {
  postcssPlugin: 'site-url',
  // Once Tailwind has written the stylesheet.
  OnceExit(stylesheet: StyleRules) {
    const { siteUrl } = JSON.parse(readFileSync(brandFile, 'utf8'));
    stylesheet.walkDecls('--site-url', declaration => {
      declaration.value = JSON.stringify(siteUrl);
    });
  },
};

/** What is used of PostCSS's stylesheets. */
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
