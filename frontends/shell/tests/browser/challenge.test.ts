import { dist } from '../../../build/file-paths.ts';
import { gateway } from '../../../kit/testing/gateway.ts';
import {
  test as base,
  expect,
  expectAccessible,
  expectConsole,
  uniqueEmail,
} from '../../../kit/testing/playwright-fixtures.ts';

// This gateway sends a challenge to everybody, as in a flood of forms.

const SALES = 'sales@oculant.example';
const CHECKING = 'Checking that you are not a robot. This takes a few seconds.';

const test = base.extend({
  baseURL: async ({ stack }, use) => {
    const contact = ['--contact-url', stack.services['contact'] ?? ''];
    const flags = [
      '--challenge',
      'always',
      '--visitor-address-from',
      'x-forwarded-for',
      ...contact,
    ];
    const asking = await gateway(dist, flags);
    await use(asking.site);
    asking.stop();
  },
});

async function write(page: Parameters<typeof expectAccessible>[0], email: string) {
  await page.getByLabel('Full Name').fill('Asha Rao');
  await page.getByLabel('Email Address').fill(email);
  await page.getByLabel('Your Message').fill('Two shops, fourteen cameras.');
}

test('the browser solves the challenge and sends the message', async ({
  page,
  mailTo,
  consoleMessages,
}) => {
  const email = uniqueEmail('asha');
  const answers: number[] = [];
  page.on(
    'response',
    answer => answer.url().endsWith('/api/contact') && answers.push(answer.status()),
  );
  // Hold back the chunk that solves the challenge, until the test has checked the status message.
  const isSeen = Promise.withResolvers<void>();
  await page.route('**/assets/challenge.*.js', async route => {
    await isSeen.promise;
    await route.continue();
  });
  await page.goto('/contact');
  await write(page, email);
  await page.getByRole('button', { name: 'Send Message' }).click();
  await expect(page.getByText(CHECKING)).toHaveRole('status');
  await expectAccessible(page);
  isSeen.resolve();
  await expect(page.getByText('Message Sent Successfully!')).toBeVisible();
  expect(answers).toEqual([429, 200]);
  await mailTo(SALES, email);
  expectConsole(consoleMessages, /429/);
});

test('a browser without Web Crypto shows contacts, keeps the message', async ({
  page,
  consoleMessages,
}) => {
  await page.addInitScript(() => Object.defineProperty(crypto, 'subtle', { value: undefined }));
  await page.goto('/contact');
  await write(page, uniqueEmail('asha'));
  await page.getByRole('button', { name: 'Send Message' }).click();
  await expect(page.getByRole('alert')).toContainText(
    'write to hello@oculant.example or call +91 44 0000 0000.',
  );
  await expect(page.getByLabel('Your Message')).toHaveValue('Two shops, fourteen cameras.');
  expectConsole(consoleMessages, /429|^We could not check/);
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('the refused page keeps the message and shows contacts', async ({
    page,
    consoleMessages,
  }) => {
    await page.goto('/contact');
    await write(page, 'asha@example.com');
    await page.getByRole('button', { name: 'Send Message' }).click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Not sent yet');
    const main = page.locator('main');
    await expect(main.getByRole('link', { name: 'hello@oculant.example' })).toHaveAttribute(
      'href',
      'mailto:hello@oculant.example',
    );
    await expect(main.getByRole('link', { name: '+91 44 0000 0000' })).toBeVisible();
    await expect(page.getByLabel('Your Message')).toHaveValue('Two shops, fourteen cameras.');
    expectConsole(consoleMessages, /429/);
  });
});
