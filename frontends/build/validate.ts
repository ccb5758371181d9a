import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { dist } from './file-paths.ts';

// Has every built page read by the W3C's checker: `npm run validate`.

/** Its reader of stylesheets knows less of them than browsers do: `@property`, `@layer` and `@supports` of ours it does not. */
const OF_STYLES = '^CSS: .*';

if (spawnSync('java', ['-version']).error) {
  console.error('The checker needs Java: sudo apt-get install default-jre-headless');
  process.exit(1);
}
const pages = readdirSync(dist, { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.html'))
  .map(file => join(dist, file));
const { status } = spawnSync(
  'vnu',
  ['--errors-only', '--format', 'gnu', '--filterpattern', OF_STYLES, ...pages],
  { stdio: 'inherit' },
);
console.log(`${pages.length} pages: ${status === 0 ? 'no error' : 'errors above'}`);
process.exitCode = status ?? 1;
