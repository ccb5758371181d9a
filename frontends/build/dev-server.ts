import type { EnvironmentConfig } from '@rsbuild/core';
import { createRsbuild, mergeRsbuildConfig } from '@rsbuild/core';
import { rsbuildConfig } from './rsbuild-config.ts';

const PAGE =
  '<!doctype html><html lang="en"><head></head><body><div id="root"></div></body></html>';

/** Serves front ends as they are written, without prerendering; the API is that of the running stack. */
export async function serve(
  environments: Record<string, EnvironmentConfig>,
  port: number,
): Promise<void> {
  const rsbuild = await createRsbuild({
    config: mergeRsbuildConfig(rsbuildConfig('development', environments), {
      html: { title: '' },
      tools: { htmlPlugin: { templateContent: PAGE } },
      dev: {
        // Two builds of a module are never mixed: a change loads the page again.
        hmr: false,
        // Compiled on demand, a part would load the page again and throw away what was typed.
        lazyCompilation: false,
      },
      server: {
        port,
        strictPort: true,
        // The page is called as its entry is.
        historyApiFallback: { index: '/main.html' },
        publicDir: { name: 'shell/public', copyOnBuild: false },
        proxy: { '/api': process.env['SITE'] ?? 'http://localhost:8080' },
      },
    }),
  });
  await rsbuild.startDevServer();
}
