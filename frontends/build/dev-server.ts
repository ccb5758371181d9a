import type { Configuration } from '@rspack/core';
import { rspack } from '@rspack/core';

const API = process.env['SITE'] ?? 'http://localhost:8080';
const PAGE =
  '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
  '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">' +
  '</head><body><div id="root"></div></body></html>';

/** Serves a front end as it is written, without rendering ahead of time; the API is that of the running stack. */
export function served(configuration: Configuration, port: number): Configuration {
  return {
    ...configuration,
    plugins: [
      ...(configuration.plugins ?? []),
      new rspack.HtmlRspackPlugin({ templateContent: PAGE, chunks: ['main'] }),
    ],
    // Compiled on demand, a part would load the page again and throw away what was typed.
    lazyCompilation: false,
    devServer: {
      port,
      historyApiFallback: true,
      // Two builds of a module are never mixed: a change loads the page again.
      hot: false,
      client: { logging: 'warn' },
      static: './public',
      proxy: [{ context: ['/api'], target: API }],
    },
  };
}
