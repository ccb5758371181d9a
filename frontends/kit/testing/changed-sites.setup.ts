import { test } from '@playwright/test';
import { buildChangedSites } from './changed-sites.ts';

test('the sites from changed sources are built', async () => {
  test.setTimeout(180_000);
  await buildChangedSites();
});
