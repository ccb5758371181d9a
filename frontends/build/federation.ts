import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ModuleFederationPlugin } from '@module-federation/enhanced/rspack';
import { frontends } from './places.ts';
import type { Remote } from './remote.ts';

const require = createRequire(import.meta.url);

/**
 * What the shell and all remotes have one of, and the packages that is from: React, and the router with its context.
 * The router is our facade, because a shared package is bundled whole.
 */
const SHARED = { react: 'react', 'react-dom': 'react-dom', '@site/kit/router.ts': '@site/kit' };

/** Where a remote's files are on the site. */
export function addressOf({ name }: Remote): string {
  return `/remotes/${name}/`;
}

/** What of a remote is loaded first. */
export function entryOf(remote: Remote): string {
  return `${addressOf(remote)}remoteEntry.js`;
}

/** The shell's part. A dead remote harms nobody: nothing of it is asked for before it is needed. */
export function host(remotes: readonly Remote[]) {
  return new ModuleFederationPlugin({
    ...COMMON,
    name: 'shell',
    remotes: Object.fromEntries(
      remotes.map(remote => [remote.name, `${remote.name}@${entryOf(remote)}`]),
    ),
    shared: shared(name => ({ eager: true, version: versionOf(name), requiredVersion: false })),
    experiments: {
      provideExternalRuntime: true,
      optimization: { target: 'web', disableSnapshot: true },
    },
  });
}

/** A remote's part. It brings nothing that the shell has. */
export function guest({ name, exposes }: Remote) {
  return new ModuleFederationPlugin({
    ...COMMON,
    name,
    filename: 'remoteEntry.js',
    exposes: Object.fromEntries(
      exposes.map(name => [`./${name}`, { import: `./src/${name}.tsx`, name }]),
    ),
    shared: shared(wanted(name)),
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

/** What a remote wants of the shell: the versions that its package file declares. Another one must not load. */
function wanted(remote: string) {
  const { peerDependencies } = packageIn(join(frontends, remote, 'package.json'));
  return (name: string) => ({
    import: false,
    requiredVersion: peerDependencies?.[name] ?? false,
    strictVersion: true,
  });
}

function versionOf(name: string): string {
  const file = name === '@site/kit' ? join(frontends, 'kit/package.json') : `${name}/package.json`;
  return packageIn(require.resolve(file)).version;
}

function packageIn(file: string): { version: string; peerDependencies?: Record<string, string> } {
  return JSON.parse(readFileSync(file, 'utf8'));
}
