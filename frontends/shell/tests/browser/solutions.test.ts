import { expect, hydrated, test } from '../../../kit/testing/browser.ts';

const IDS = [
  'advanced-threat-detection',
  'visual-surveillance-analytics',
  'smart-alert-system',
  'mobile-app-services',
  'web-ai-dashboard',
  'device-health-check',
  'deployment-options',
  'custom-ai-models',
  'activity-analytics',
  'data-protection',
  'access-control',
  'network-security',
];

test('twelve solutions, each with an anchor and five features (sections 2, 3 and 9)', async ({
  page,
}) => {
  await page.goto('/solutions');
  const sections = page.locator('main section[id]');
  expect(await sections.evaluateAll(all => all.map(({ id }) => id))).toEqual(IDS);
  for (const section of await sections.all()) {
    await expect(section.getByRole('listitem')).toHaveCount(5);
  }
  for (const words of [
    'SMS, WhatsApp, Email and Dashboard',
    'Per-camera AI model assignment',
    'Role-based access',
    'Encryption in transit and at rest',
    'Audit logs',
  ]) {
    await expect(page.getByText(words).first()).toBeVisible();
  }
});

test('the index stays in view on a wide screen and leads to each solution', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto('/solutions');
  await hydrated(page.locator('main h1'));
  const index = page.getByRole('navigation', { name: 'Solutions' });
  await index.getByRole('link', { name: 'Access Control' }).click();
  await expect(page).toHaveURL('/solutions#access-control');
  await expect(page.locator('#access-control')).toBeInViewport();
  await expect(index.getByRole('link', { name: 'Advanced Threat Detection' })).toBeInViewport();
});

test('a solution can be led to from another page', async ({ page }) => {
  await page.goto('/solutions#data-protection');
  await expect(page.locator('#data-protection')).toBeInViewport();
  await expect(page.getByRole('link', { name: 'Request a Demo' })).toHaveAttribute(
    'href',
    '/contact',
  );
});
