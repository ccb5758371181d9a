import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ModuleFederationPlugin } from '@module-federation/enhanced/rspack';
import { satisfy } from '@module-federation/runtime';
import { frontends } from './file-paths.ts';
import type { Remote } from './remote.ts';

const require = createRequire(import.meta.url);

/**
 * Packages shared as singletons, by the module that is imported: React, and the router with its context. The router is
 * the kit's facade, because a shared package is bundled whole.
 */
const SHARED: Record<keyof typeof SHARED_VERSIONS, string> = {
  react: 'react',
  'react-dom': 'react-dom',
  '@site/kit/router.ts': '@site/kit',
};

/** Public path of a remote's files on the site. */
export function publicPathOf({ name }: Remote): string {
  return `/remotes/${name}/`;
}

/** URL of a remote's entry, remoteEntry.js. */
export function remoteEntryUrl(remote: Remote): string {
  return `${publicPathOf(remote)}remoteEntry.js`;
}

/**
 * Constants of the shell's build: what its runtime is to know (`shell/src/federation.ts`), and by which the runtime's own
 * sources leave out what is for Node and for snapshots. The plugin would make the runtime part of the first chunk.
 */
export function hostDefinitions(remotes: readonly Remote[]): Record<string, string> {
  const entries = remotes.map(remote => ({ name: remote.name, entry: remoteEntryUrl(remote) }));
  const shared = Object.entries(SHARED).map(([module, name]) => {
    const version = packageVersionOf(name);
    const ranges = remotes
      .map(remote => requiredRangeOf(remote.name, name))
      .filter(range => range !== undefined);
    return { module, version, satisfied: ranges.filter(range => satisfy(version, range)) };
  });
  return {
    REMOTE_ENTRIES: JSON.stringify(entries),
    SHARED_VERSIONS: jsonBy(shared, ({ version }) => version),
    SATISFIED_RANGES: jsonBy(shared, ({ satisfied }) => [...new Set(satisfied)]),
    ENV_TARGET: JSON.stringify('web'),
    FEDERATION_OPTIMIZE_NO_SNAPSHOT_PLUGIN: 'true',
  };
}

function jsonBy<Each extends { module: string }>(
  all: readonly Each[],
  of: (each: Each) => unknown,
) {
  return JSON.stringify(Object.fromEntries(all.map(each => [each.module, of(each)])));
}

/** Module Federation plugin of a remote. It bundles no shared dependency. */
export function remotePlugin({ name, exposes }: Remote) {
  return new ModuleFederationPlugin({
    dts: false,
    dev: false,
    manifest: false,
    shareStrategy: 'loaded-first',
    name,
    filename: 'remoteEntry.js',
    exposes: Object.fromEntries(
      exposes.map(name => [`./${name}`, { import: `./src/${name}.tsx`, name }]),
    ),
    shared: requiredOfShell(name),
    experiments: { externalRuntime: true, optimization: { target: 'web', disableSnapshot: true } },
  });
}

/**
 * The federation's runtime as ES modules, of which only what is used stays in the bundle. The plugin
 * itself names the CommonJS files.
 */
export const esRuntime: Record<string, string> = Object.fromEntries(
  ['runtime', 'runtime-core', 'sdk', 'webpack-bundler-runtime'].map(name => {
    const common = require.resolve(`@module-federation/${name}`);
    return [common, common.replace(/\.cjs$/, '.js')];
  }),
);

/** What a remote requires of the shell, in the versions of its peer dependencies. Another one must not load. */
function requiredOfShell(remote: string) {
  return Object.fromEntries(
    Object.entries(SHARED).map(([module, name]) => [
      module,
      {
        import: false as const,
        requiredVersion: requiredRangeOf(remote, name) ?? (false as const),
        strictVersion: true,
        singleton: true,
      },
    ]),
  );
}

function requiredRangeOf(remote: string, name: string): string | undefined {
  return packageIn(join(frontends, remote, 'package.json')).peerDependencies?.[name];
}

function packageVersionOf(name: string): string {
  const file = name === '@site/kit' ? join(frontends, 'kit/package.json') : `${name}/package.json`;
  return packageIn(require.resolve(file)).version;
}

function packageIn(file: string): { version: string; peerDependencies?: Record<string, string> } {
  return JSON.parse(readFileSync(file, 'utf8'));
}
