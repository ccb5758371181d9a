import type { Page } from '@playwright/test';
import {
  expect,
  expectConsole,
  hydrated,
  test,
  uniqueEmail,
} from '../../../kit/testing/playwright-fixtures.ts';
import { disableToastTimeouts } from '../../../kit/testing/show-toast.ts';

const SALES = 'sales@oculant.example';

test('a message reaches sales with its campaign, and is acknowledged', {
  tag: '@hosting',
}, async ({ page, mailTo }) => {
  const email = uniqueEmail('asha');
  await page.goto('/solutions?utm_source=newspaper&utm_medium=banner&utm_campaign=monsoon', {
    referer: 'https://www.example.com/',
  });
  await page.getByRole('link', { name: 'Contact', exact: true }).first().click();
  await page.getByLabel('Full Name').fill('Asha Rao');
  await page.getByLabel('Email Address').fill(email);
  await page.getByLabel('Your Message').fill('Two shops, fourteen cameras.\n“How soon?”');
  await page.evaluate(disableToastTimeouts);
  await page.getByRole('button', { name: 'Send Message' }).click();

  await expect(page.getByText('Message Sent Successfully!')).toBeVisible();
  await expect(page.getByText(email)).toBeVisible();

  const lead = await mailTo(SALES, email);
  expect(lead.text).toContain('Asha Rao');
  expect(lead.text).toContain('“How soon?”');
  expect(lead.text).toMatch(
    /Page: +\/contact\nReferrer: +https:\/\/www\.example\.com\/\nCampaign: +newspaper \/ banner \/ monsoon\n/,
  );
  expect(lead.headers['reply-to']).toContain(email);
  const acknowledgement = await mailTo(email, 'Asha');
  expect(acknowledgement.headers['auto-submitted']).toBe('auto-generated');
});

test('errors stand beside their fields, and input is kept', async ({ page, consoleMessages }) => {
  await page.goto('/contact');
  await page.getByLabel('Full Name').fill('   ');
  await page.getByLabel('Email Address').fill('asha@example.com');
  await page.getByLabel('Your Message').fill('Hello');
  await page.getByRole('button', { name: 'Send Message' }).click();

  await expect(page.getByRole('alert')).toBeFocused();
  const name = page.getByLabel('Full Name');
  await expect(name).toHaveAttribute('aria-invalid', 'true');
  await expect(name).toHaveAccessibleDescription(/name/i);
  await expect(page.getByLabel('Your Message')).toHaveValue('Hello');
  expect(consoleMessages.splice(0)).toEqual([
    expect.stringContaining('422'),
    'Please check the marked fields.',
  ]);
});

test('a hanging message can be cancelled; editing keeps the caret', async ({
  page,
  consoleMessages,
}) => {
  let hang: () => void;
  const hanging = new Promise<void>(resolve => {
    hang = resolve;
  });
  await page.route('**/api/contact', () => hang(), { times: 1 });
  await page.goto('/contact');
  const name = page.getByLabel('Full Name');
  await name.fill('   ');
  await page.getByLabel('Email Address').fill('asha@example.com');
  await page.getByLabel('Your Message').fill('Hello');
  const send = page.getByRole('button', { name: 'Send Message' });
  await send.click();
  // The route handles one request. Cancel only after the first request, or the route catches the second.
  await hanging;
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(send).toBeFocused();

  await page.keyboard.press('Enter');
  await expect(page.getByRole('alert')).toBeFocused();
  await name.press('End');
  await page.keyboard.type('Asha');
  await expect(page.getByRole('alert')).toBeHidden();
  await expect(name).toBeFocused();
  await expect(name).toHaveValue(/Asha$/);
  expectConsole(consoleMessages, /422|^Please check the marked fields\.$/);
});

test('native validation focuses invalid fields and sends nothing', async ({ page }) => {
  const asked: string[] = [];
  page.on('request', request => asked.push(request.url()));
  await page.goto('/contact');
  const send = page.getByRole('button', { name: 'Send Message' });
  const message = page.getByLabel('Your Message');
  await send.click();
  await expect(page.getByLabel('Full Name')).toBeFocused();
  await page.getByLabel('Full Name').fill('Asha');
  await page.getByLabel('Email Address').fill('asha@');
  await send.click();
  await expect(page.getByLabel('Email Address')).toBeFocused();
  await page.getByLabel('Email Address').fill('asha@example.com');
  await message.fill('x'.repeat(10_003));
  await expect(page.getByText('3 characters too many')).toBeVisible();
  await send.click();
  await expect(message).toBeFocused();
  await expect(message).toHaveValue('x'.repeat(10_003));
  expect(asked.some(url => url.includes('/api/'))).toBe(false);
});

test('input before hydration is kept', async ({ page }) => {
  const started = await startLater(page);
  await page.goto('/contact', { waitUntil: 'commit' });
  await page.getByLabel('Full Name').fill('Asha Rao');
  await page.getByLabel('Your Message').fill('Typed at once');
  started();
  await hydrated(page.locator('main form'));
  await expect(page.getByLabel('Full Name')).toHaveValue('Asha Rao');
  await expect(page.getByLabel('Your Message')).toHaveValue('Typed at once');
});

test('a form submitted before hydration arrives', async ({ page, mailTo }) => {
  const email = uniqueEmail('asha');
  const started = await startLater(page);
  await page.goto('/contact', { waitUntil: 'commit' });
  await page.getByLabel('Full Name').fill('Asha Rao');
  await page.getByLabel('Email Address').fill(email);
  await page.getByLabel('Your Message').fill('Sent at once');
  await page.getByLabel('Email Address').press('Enter');
  await expect(page).toHaveURL('/contact/sent');
  started();
  await hydrated(page.locator('main h1'));
  await mailTo(SALES, email);
});

test('a draft survives reload and navigation (section 4)', async ({ page }) => {
  await page.goto('/contact');
  await page.getByLabel('Full Name').fill('Asha Rao');
  await page.getByLabel('Your Message').fill('Half a sent');
  await page.reload();
  await expect(page.getByLabel('Full Name')).toHaveValue('Asha Rao');
  await expect(page.getByLabel('Your Message')).toHaveValue('Half a sent');
  await page.getByRole('link', { name: 'About', exact: true }).first().click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Pioneering AI Security');
  await page.goBack();
  await expect(page.getByLabel('Your Message')).toHaveValue('Half a sent');
  await expect(page.getByText('Your draft is back').first()).toBeVisible();
});

test('an unchanged message keeps its idempotency key after a reload', async ({ page }) => {
  const keys: (string | undefined)[] = [];
  await page.route('**/api/contact', route => {
    keys.push(route.request().headers()['idempotency-key']);
  });
  const send = page.getByRole('button', { name: 'Send Message' });
  await page.goto('/contact?utm_source=newspaper');
  await page.getByLabel('Full Name').fill('Asha Rao');
  await page.getByLabel('Email Address').fill('asha@example.com');
  await page.getByLabel('Your Message').fill('Hello');
  await send.click();
  await expect.poll(() => keys.length).toBe(1);
  await page.goto('/contact');
  await expect(page.getByLabel('Your Message')).toHaveValue('Hello');
  await send.click();
  await expect.poll(() => keys.length).toBe(2);
  await page.reload();
  await hydrated(page.locator('main form'));
  await page.getByLabel('Your Message').fill('Hello again');
  await send.click();
  await expect.poll(() => keys.length).toBe(3);
  expect(keys[1]).toBe(keys[0]);
  expect(keys[2]).not.toBe(keys[0]);
});

test('a lost response is retried under its key, without duplicates', async ({
  page,
  mailTo,
  mailsTo,
  consoleMessages,
}) => {
  const email = uniqueEmail();
  const keys: (string | undefined)[] = [];
  await page.route('**/api/contact', async route => {
    keys.push(route.request().headers()['idempotency-key']);
    if (keys.length === 1) {
      // The message arrives, but its response does not.
      await route.fetch();
      await route.abort('connectionreset');
    } else {
      await route.continue();
    }
  });
  await page.clock.install();
  await page.goto('/contact');
  await page.getByLabel('Full Name').fill('Asha Rao');
  await page.getByLabel('Email Address').fill(email);
  await page.getByLabel('Your Message').fill('Once only');
  const lost = page.waitForEvent('requestfailed', request =>
    request.url().endsWith('/api/contact'),
  );
  await page.getByRole('button', { name: 'Send Message' }).click();
  await lost;
  await expect(page.getByRole('button', { name: 'Sending...' })).toBeDisabled();
  // Skips the delay before the retry.
  await page.clock.runFor(1_000);
  await expect(page.getByText('Message Sent Successfully!')).toBeVisible();
  expect(keys).toHaveLength(2);
  expect(keys[0]).toBe(keys[1]);

  await mailTo(email, 'Asha');
  await mailTo(SALES, email);
  expect(await mailsTo(email, '')).toHaveLength(1);
  expect(consoleMessages.splice(0)).toEqual([expect.stringContaining('ERR_CONNECTION_RESET')]);
});

test('the map is asked for only when the visitor wants it', { tag: '@hosting' }, async ({
  page,
}) => {
  const asked: string[] = [];
  await page.route(/openstreetmap/, route => {
    asked.push(route.request().url());
    return route.fulfill({ contentType: 'text/html', body: '<p>A map</p>' });
  });
  await page.goto('/contact', { waitUntil: 'networkidle' });
  await expect(page.getByRole('link', { name: 'Get Directions' })).toHaveAttribute(
    'target',
    '_blank',
  );
  expect(asked).toEqual([]);
  await page.getByRole('button', { name: 'Show map' }).click();
  await expect(page.frameLocator('iframe').getByText('A map')).toBeVisible();
  expect(asked).toEqual([expect.stringContaining('marker=13.0827%2C80.2707')]);
});

/** The application starts when the returned function is called. */
async function startLater(page: Page): Promise<() => void> {
  const started = Promise.withResolvers<void>();
  await page.route('**/assets/main.*.js', async route => {
    await started.promise;
    await route.continue();
  });
  return started.resolve;
}
