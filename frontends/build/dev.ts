import { createRsbuild, mergeRsbuildConfig } from '@rsbuild/core';
import { remoteNamed, remotes } from './remotes.ts';
import { remoteConfig, rsbuildConfig, shellConfig, standaloneConfig } from './rsbuild-config.ts';

// Development server without prerendering, with the running stack's API. `npm run dev` serves the whole site,
// `npm run dev -w frontends/blog` one remote without the shell.

const SITE_PORT = 8090;
const PAGE =
  '<!doctype html><html lang="en"><head></head><body><div id="root"></div></body></html>';

const [name, port] = process.argv.slice(2);
const alone = name ? remoteNamed(name) : undefined;
const environments = alone
  ? { [alone.name]: standaloneConfig(alone) }
  : {
      shell: shellConfig(remotes),
      ...Object.fromEntries(remotes.map(remote => [remote.name, remoteConfig(remote)])),
    };
const rsbuild = await createRsbuild({
  config: mergeRsbuildConfig(rsbuildConfig('development', environments), {
    html: { title: '' },
    tools: { htmlPlugin: { templateContent: PAGE } },
    dev: {
      // Hot replacement could mix two builds of a module, so a change reloads the page.
      hmr: false,
      // Compiling a chunk on demand would reload the page and lose form input.
      lazyCompilation: false,
    },
    server: {
      port: Number(port ?? alone?.port ?? SITE_PORT),
      strictPort: true,
      // Rsbuild names the page after its entry.
      historyApiFallback: { index: '/main.html' },
      publicDir: { name: 'shell/public', copyOnBuild: false },
      proxy: { '/api': process.env['SITE'] ?? 'http://localhost:8080' },
    },
  }),
});
await rsbuild.startDevServer();
