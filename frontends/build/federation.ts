import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ModuleFederationPlugin } from '@module-federation/enhanced/rspack';
import { satisfy } from '@module-federation/runtime';
import { frontends } from './file-paths.ts';
import type { Remote } from './remote.ts';

const require = createRequire(import.meta.url);

/**
 * Shared singletons: the imported module, and the package that has its version. The router is shared as the
 * kit's facade, because sharing a package bundles all of it.
 */
const SHARED: Record<keyof typeof SHARED_VERSIONS, string> = {
  react: 'react',
  'react-dom': 'react-dom',
  '@site/kit/router.ts': '@site/kit',
};

export function publicPathOf({ name }: Remote): string {
  return `/remotes/${name}/`;
}

export function remoteEntryUrl(remote: Remote): string {
  return `${publicPathOf(remote)}remoteEntry.js`;
}

/**
 * Build constants of the shell, for `shell/src/federation.ts`. The last two remove code for Node and for
 * snapshots from the federation runtime. The shell does not use the federation plugin, because the plugin
 * would put the runtime into the first chunk.
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
 * Maps the CommonJS files of the federation runtime, which the plugin imports, to its ES modules. Only ES
 * modules can be tree-shaken.
 */
export const esRuntime: Record<string, string> = Object.fromEntries(
  ['runtime', 'runtime-core', 'sdk', 'webpack-bundler-runtime'].map(name => {
    const common = require.resolve(`@module-federation/${name}`);
    return [common, common.replace(/\.cjs$/, '.js')];
  }),
);

/** Version ranges that a remote requires of shared packages. Outside these ranges it must not load. */
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
