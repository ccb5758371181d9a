import { expect, hydrated, test } from '../../../kit/testing/browser.ts';

test('ten internships, each with what it asks and gives (sections 2, 3 and 9)', async ({
  page,
}) => {
  await page.goto('/careers');
  const list = page.getByRole('region', { name: 'Open Positions' });
  await expect(list.locator('details')).toHaveCount(10);
  await expect(list.getByRole('heading', { level: 3 })).toHaveText([
    'Marketing Intern',
    'Video Editing Intern',
    'Computer Vision Intern',
    'Data Annotation/Analytics Intern',
    'Business Development Intern',
    'AI Intern',
    'Backend Intern',
    'Frontend Intern',
    'Full Stack Intern',
    'Cloud Engineering Intern',
  ]);
  const first = list.locator('details').first();
  await first.locator('summary').click();
  await expect(first.getByText('Internship · Remote / Chennai')).toBeVisible();
  await expect(first.getByText('Student / Fresher')).toBeVisible();
});

test('three reasons and eight perks (sections 2 and 9)', async ({ page }) => {
  await page.goto('/careers');
  const itemsOf = (name: string) => page.getByRole('region', { name }).getByRole('listitem');
  await expect(itemsOf('Why Work With Us')).toHaveCount(3);
  await expect(itemsOf('Benefits and Perks')).toHaveCount(8);
});

test('a department narrows the list and says how many are left', async ({ page }) => {
  await page.goto('/careers');
  await hydrated(page.locator('main h1'));
  const list = page.getByRole('region', { name: 'Open Positions' });
  await list.getByRole('button', { name: 'Engineering' }).click();
  await expect(list.locator('details')).toHaveCount(6);
  await expect(list.getByRole('status')).toHaveText('6 positions');
  await list.getByRole('button', { name: 'Media' }).click();
  await expect(list.getByRole('status')).toHaveText('1 position');
});

test('a position has an address that opens it', async ({ page }) => {
  await page.goto('/careers?position=7');
  const position = page.locator('#position-7 details');
  await expect(position).toHaveAttribute('open');
  await expect(position.getByText('in Rust, over gRPC')).toBeInViewport();
  await expect(page.locator('details[open]')).toHaveCount(1);
});

test('search engines are told of every position', async ({ page }) => {
  await page.goto('/careers');
  const data = await page.locator('script[type="application/ld+json"]').allTextContents();
  const jobs = data.map(text => JSON.parse(text)).filter(thing => thing['@type'] === 'JobPosting');
  expect(jobs).toHaveLength(10);
  for (const job of jobs) {
    for (const required of [
      'title',
      'description',
      'datePosted',
      'hiringOrganization',
      'jobLocation',
    ]) {
      expect(job[required], `${job.title}: ${required}`).toBeTruthy();
    }
  }
});
