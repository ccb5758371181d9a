import type { Configuration } from '@rspack/core';
import { rspack } from '@rspack/core';
import { remote, shell } from './configurations.ts';
import { remotes } from './remotes.ts';

// `npm run dev`: the site as it is written, without rendering ahead of time; the API is that of the
// running stack.

const PORT = 8090;
const API = process.env['SITE'] ?? 'http://localhost:8080';
const PAGE =
  '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
  '<meta name="viewport" content="width=device-width, initial-scale=1">' +
  '</head><body><div id="root"></div></body></html>';

const host: Configuration = shell('development', remotes);
const configurations: Configuration[] = [
  {
    ...host,
    plugins: [
      ...(host.plugins ?? []),
      new rspack.HtmlRspackPlugin({ templateContent: PAGE, chunks: ['main'] }),
    ],
    devServer: {
      port: PORT,
      historyApiFallback: true,
      // Two builds of a module are never mixed: a change loads the page again.
      hot: false,
      static: './public',
      proxy: [{ context: ['/api'], target: API }],
    },
  },
  ...remotes.map(which => remote('development', which)),
];
export default configurations;
