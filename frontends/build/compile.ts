import type { Configuration, MultiStats, StatsCompilation } from '@rspack/core';
import { rspack } from '@rspack/core';

/** What a build made: the addresses of each named chunk's files, by the chunk's name. */
export type Parts = Record<string, readonly string[]>;

/** Compiles, and says what came of the configuration of a name. */
export async function compile(configurations: Configuration[]): Promise<(name: string) => Parts> {
  const { stats } = await run(configurations);
  return name => {
    const found = stats.find(({ compilation }) => compilation.name === name);
    if (!found) {
      throw new Error(`Nothing was built that is called ${name}`);
    }
    return partsOf(
      found.toJson({ all: false, chunkGroups: true, chunkGroupAuxiliary: true, publicPath: true }),
    );
  };
}

function partsOf({ publicPath, namedChunkGroups = {} }: StatsCompilation): Parts {
  return Object.fromEntries(
    Object.entries(namedChunkGroups).map(([chunk, { assets = [], auxiliaryAssets = [] }]) => [
      chunk,
      [...assets, ...auxiliaryAssets].map(asset => `${publicPath}${asset.name}`),
    ]),
  );
}

function run(configurations: Configuration[]): Promise<MultiStats> {
  const compiler = rspack(configurations);
  return new Promise((resolve, reject) => {
    compiler.run((failure, result) => {
      const done =
        failure ?? (result?.hasErrors() ? new Error(result.toString('errors-only')) : null);
      if (done || !result) {
        reject(done);
      } else {
        compiler.close(() => resolve(result));
      }
    });
  });
}
