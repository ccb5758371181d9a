import { test } from '@playwright/test';
import { createModifiedBuilds } from './modified-builds.ts';

test('the sites from changed sources are built', async () => {
  test.setTimeout(180_000);
  await createModifiedBuilds();
});
