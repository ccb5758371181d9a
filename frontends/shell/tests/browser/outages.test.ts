import { expect, test, uniqueEmail } from '../../../kit/testing/playwright-fixtures.ts';

// These tests stop a part that all tests share, so they run last, one at a time.

test('a message is refused while the broker is unavailable', {
  tag: '@hosting',
}, async ({ page, stack, mailTo, consoleMessages }) => {
  const email = uniqueEmail();
  await page.goto('/contact');
  await page.getByLabel('Full Name').fill('Asha Rao');
  await page.getByLabel('Email Address').fill(email);
  await page.getByLabel('Your Message').fill('Are you there?');

  const broker = stack.pids['nats'];
  if (!broker) {
    throw new Error('The stack does not tell which process the broker is');
  }
  process.kill(broker, 'SIGSTOP');
  try {
    await expect.poll(() => readiness(stack.health)).toBe(503);
    const answer = page.waitForResponse('**/api/contact');
    await page.getByRole('button', { name: 'Send Message' }).click();
    const refused = await answer;
    expect(refused.status()).toBe(503);
    expect(Number(refused.headers()['retry-after'])).toBeGreaterThan(0);
    const { message } = await refused.json();
    await expect(page.getByRole('alert')).toHaveText(message);
    await expect(page.getByRole('alert')).toBeFocused();
    await expect(page.getByLabel('Full Name')).toHaveValue('Asha Rao');
    await expect(page.getByLabel('Email Address')).toHaveValue(email);
    await expect(page.getByLabel('Your Message')).toHaveValue('Are you there?');
  } finally {
    process.kill(broker, 'SIGCONT');
  }
  await expect.poll(() => readiness(stack.health)).toBe(200);
  await page.getByRole('button', { name: 'Send Message' }).click();
  await expect(page.getByText('Message Sent Successfully!')).toBeVisible();
  await mailTo('sales@oculant.example', email);
  expect(consoleMessages.splice(0)).toEqual([
    expect.stringContaining('503'),
    expect.stringContaining('Please try again'),
  ]);
});

async function readiness(health: string): Promise<number> {
  return (await fetch(`${health}/readyz`)).status;
}
