import { newsletterLink } from '../../../kit/testing/inbox.ts';
import { expect, test, uniqueEmail } from '../../../kit/testing/playwright-fixtures.ts';

test('a visitor signs up, confirms, and unsubscribes', { tag: '@hosting' }, async ({
  page,
  stack,
  mailTo,
}) => {
  const email = uniqueEmail('reader');
  await page.goto('/blog');
  await page.getByLabel('Email Address').first().fill(email);
  await page.getByRole('button', { name: 'Subscribe' }).first().click();
  await expect(page.getByText('Thank you for subscribing!')).toBeVisible();
  await expect(page.getByLabel('Email Address').first()).toHaveValue('');

  const confirmation = await mailTo(email, 'newsletter=confirm');
  await page.goto(newsletterLink(confirmation, 'confirm', stack.site));
  const dialog = page.getByRole('dialog', { name: 'Confirm your subscription' });
  await dialog.getByRole('button', { name: 'Confirm' }).click();
  await expect(dialog.getByText('Your subscription is confirmed')).toBeVisible();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await expect(dialog).toBeHidden();
  await expect(page).toHaveURL('/');

  const welcome = await mailTo(email, 'newsletter=unsubscribe');
  expect(welcome.headers['list-unsubscribe-post']).toBe('List-Unsubscribe=One-Click');
  await page.goto(newsletterLink(welcome, 'unsubscribe', stack.site));
  const goodbye = page.getByRole('dialog', { name: 'Unsubscribe' });
  await goodbye.getByRole('button', { name: 'Unsubscribe' }).click();
  await expect(goodbye.getByText('You are unsubscribed.')).toBeVisible();
});

test('opening a link alone sends nothing; a forged one is refused with a sentence, and Escape closes it', async ({
  page,
  consoleMessages,
}) => {
  const posts: string[] = [];
  page.on('request', request => request.method() === 'POST' && posts.push(request.url()));
  await page.goto('/?newsletter=confirm&token=forged');
  // Only without JavaScript does the question replace the page's title.
  await expect(page).toHaveTitle(/^Oculant: /);
  const dialog = page.getByRole('dialog');
  await expect(dialog).toBeVisible();
  expect(posts).toEqual([]);
  await dialog.getByRole('button', { name: 'Confirm' }).click();
  await expect(dialog.getByRole('alert')).toHaveText(/\w+ .*\./);
  await expect(dialog.getByRole('button', { name: 'Confirm' })).toBeEnabled();
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
  expect(consoleMessages.splice(0)).toEqual([expect.stringMatching(/4\d\d/)]);
});
