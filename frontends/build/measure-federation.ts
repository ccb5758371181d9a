import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { gateway } from '../kit/testing/gateway.ts';
import { dist, frontends, root } from './file-paths.ts';
import { launchChrome, medianLighthouseRun } from './lighthouse.ts';
import { SAMPLES } from './sample-paths.ts';

// What a first view costs with remotes, and what it would cost as one bundle: `cargo xtask measure federation`.

/** Pages that remotes show, and the one that shows a part of theirs. */
const PATHS = [SAMPLES.home, SAMPLES.blogList, SAMPLES.article, SAMPLES.careers];

const whole = join(root, 'target/one-bundle');
execFileSync(process.execPath, [join(frontends, 'build/one-bundle.ts')], {
  env: { ...process.env, SITE_OUT: whole },
  stdio: 'inherit',
});
const sites = {
  federated: await gateway(dist),
  'one bundle': await gateway(whole),
};
const browser = await launchChrome();
const rows: Record<string, string | number>[] = [];
for (const route of PATHS) {
  for (const [built, { site }] of Object.entries(sites)) {
    const { 'JS kB': script, 'all kB': all, requests, 'LCP ms': lcp } = await measured(site, route);
    rows.push({ route, built, 'JS kB': script, 'all kB': all, requests, 'LCP ms': lcp });
  }
}
browser.kill();
for (const { stop } of Object.values(sites)) {
  stop();
}
console.table(rows);

async function measured(site: string, route: string) {
  const row = await medianLighthouseRun(site, route, browser.port, 'LCP ms');
  // Best practices count what the console complains of: a page that is broken is no page to compare with.
  if (row['best practices'] < 100) {
    throw new Error(`${site}${route} does not work`);
  }
  return row;
}
