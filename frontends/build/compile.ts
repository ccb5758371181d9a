import type { EnvironmentConfig, Rspack } from '@rsbuild/core';
import { createRsbuild } from '@rsbuild/core';
import { rsbuildConfig } from './rsbuild-config.ts';

/** URLs of the files of each named chunk. */
export type ChunkFiles = Record<string, readonly string[]>;

/** Returns a function that finds the files of an environment by its name. */
export async function compile(
  environments: Record<string, EnvironmentConfig>,
): Promise<(name: string) => ChunkFiles> {
  const rsbuild = await createRsbuild({ config: rsbuildConfig('production', environments) });
  const { stats, close } = await rsbuild.build();
  await close();
  const all = stats && 'stats' in stats ? stats.stats : [stats];
  return name => {
    const found = all.find(each => each?.compilation.name === name);
    if (!found) {
      throw new Error(`Nothing was built that is called ${name}`);
    }
    return chunkFilesOf(
      found.toJson({ all: false, chunkGroups: true, chunkGroupAuxiliary: true, publicPath: true }),
    );
  };
}

function chunkFilesOf({ publicPath, namedChunkGroups = {} }: Rspack.StatsCompilation): ChunkFiles {
  return Object.fromEntries(
    Object.entries(namedChunkGroups).map(([chunk, { assets = [], auxiliaryAssets = [] }]) => [
      chunk,
      [...assets, ...auxiliaryAssets].map(asset => `${publicPath}${asset.name}`),
    ]),
  );
}
