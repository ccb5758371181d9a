import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { gateway } from '../kit/testing/gateway.ts';
import { audited, launchForAudit } from './audit.ts';
import { dist, frontends, root } from './places.ts';

// What a first view costs with remotes, and what it would cost as one bundle: `cargo xtask measure federation`.

const ROUTES = ['/', '/blog', '/blog/ai-advancements', '/careers'];
const RUNS = 3;

const whole = join(root, 'target/one-bundle');
execFileSync(process.execPath, [join(frontends, 'build/one-bundle.ts')], {
  env: { ...process.env, SITE_OUT: whole },
  stdio: 'inherit',
});
const sites = {
  federated: await gateway(dist),
  'one bundle': await gateway(whole),
};
const browser = await launchForAudit();
const rows: Record<string, string | number>[] = [];
for (const route of ROUTES) {
  for (const [built, { site }] of Object.entries(sites)) {
    const { 'JS kB': script, 'all kB': all, requests, 'LCP ms': lcp } = await median(site, route);
    rows.push({ route, built, 'JS kB': script, 'all kB': all, requests, 'LCP ms': lcp });
  }
}
browser.kill();
for (const { stop } of Object.values(sites)) {
  stop();
}
console.table(rows);

async function median(site: string, route: string) {
  const runs = [];
  for (let run = 0; run < RUNS; run += 1) {
    runs.push(await audited(site, route, browser.port));
  }
  runs.sort((a, b) => a['LCP ms'] - b['LCP ms']);
  const middle = runs[Math.floor(RUNS / 2)];
  // Best practices count what the console complains of: a page that is broken is no page to compare with.
  if (!middle || middle['best practices'] < 100) {
    throw new Error(`${site}${route} does not work`);
  }
  return middle;
}
