import { expect, test } from '../../../kit/testing/browser.ts';

test('vision, journey and leadership (sections 2 and 9)', async ({ page }) => {
  await page.goto('/about');
  await expect(page.getByRole('region', { name: 'Our Vision' }).getByRole('link')).toHaveAttribute(
    'href',
    '/solutions',
  );
  const journey = page.getByRole('region', { name: 'Our Journey' }).getByRole('listitem');
  await expect(journey.getByRole('heading')).toHaveText([
    'Founded',
    'Pre-incubation',
    'Leading innovation',
  ]);
  await expect(journey.locator('p:first-child')).toHaveText(['2024', '2024', 'Present']);

  const people = page.getByRole('region', { name: 'Meet Our Leadership' }).getByRole('listitem');
  await expect(people.getByRole('heading')).toHaveText([
    'Founder & CEO',
    'CTO',
    'Chief Business Officer',
    'Chief Operating Officer',
  ]);
  for (const person of await people.all()) {
    await expect(person.getByRole('img')).toBeVisible();
    await expect(person.getByRole('link')).toHaveAttribute('target', '_blank');
  }
  await expect(page.getByRole('link', { name: 'Request a Consultation' })).toHaveAttribute(
    'href',
    '/contact',
  );
});
