import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ModuleFederationPlugin } from '@module-federation/enhanced/rspack';
import { frontends } from './file-paths.ts';
import type { Remote } from './remote.ts';

const require = createRequire(import.meta.url);

/**
 * Packages shared as singletons, by the module that is imported: React, and the router with its context. The router is
 * the kit's facade, because a shared package is bundled whole.
 */
const SHARED = { react: 'react', 'react-dom': 'react-dom', '@site/kit/router.ts': '@site/kit' };

/** Public path of a remote's files on the site. */
export function publicPathOf({ name }: Remote): string {
  return `/remotes/${name}/`;
}

/** URL of a remote's entry, remoteEntry.js. */
export function remoteEntryUrl(remote: Remote): string {
  return `${publicPathOf(remote)}remoteEntry.js`;
}

/** Module Federation plugin of the shell. A dead remote harms nobody: nothing of it is asked for before it is needed. */
export function hostPlugin(remotes: readonly Remote[]) {
  return new ModuleFederationPlugin({
    ...COMMON,
    name: 'shell',
    remotes: Object.fromEntries(
      remotes.map(remote => [remote.name, `${remote.name}@${remoteEntryUrl(remote)}`]),
    ),
    shared: shared(name => ({
      eager: true,
      version: packageVersionOf(name),
      requiredVersion: false,
    })),
    experiments: {
      provideExternalRuntime: true,
      optimization: { target: 'web', disableSnapshot: true },
    },
  });
}

/** Module Federation plugin of a remote. It bundles no shared dependency. */
export function remotePlugin({ name, exposes }: Remote) {
  return new ModuleFederationPlugin({
    ...COMMON,
    name,
    filename: 'remoteEntry.js',
    exposes: Object.fromEntries(
      exposes.map(name => [`./${name}`, { import: `./src/${name}.tsx`, name }]),
    ),
    shared: shared(requiredVersions(name)),
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

const COMMON = { dts: false, dev: false, manifest: false, shareStrategy: 'loaded-first' } as const;

function shared(how: (name: string) => object) {
  return Object.fromEntries(
    Object.entries(SHARED).map(([module, name]) => [module, { ...how(name), singleton: true }]),
  );
}

/** Versions that a remote requires of the shell, by its peer dependencies. Another one must not load. */
function requiredVersions(remote: string) {
  const { peerDependencies } = packageIn(join(frontends, remote, 'package.json'));
  return (name: string) => ({
    import: false,
    requiredVersion: peerDependencies?.[name] ?? false,
    strictVersion: true,
  });
}

function packageVersionOf(name: string): string {
  const file = name === '@site/kit' ? join(frontends, 'kit/package.json') : `${name}/package.json`;
  return packageIn(require.resolve(file)).version;
}

function packageIn(file: string): { version: string; peerDependencies?: Record<string, string> } {
  return JSON.parse(readFileSync(file, 'utf8'));
}
