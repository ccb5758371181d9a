import type { Page } from '@playwright/test';
import type { AccessibilityNode } from '../../../kit/testing/accessibility-tree.ts';
import { accessibilityTree, focusNode, nodeWith } from '../../../kit/testing/accessibility-tree.ts';
import {
  expect,
  expectConsole,
  test,
  uniqueEmail,
} from '../../../kit/testing/playwright-fixtures.ts';
import { disableToastTimeouts } from '../../../kit/testing/show-toast.ts';

// The site for screen readers: roles and names, keyboard actions, announcements.

test('menus and switches expose their state', async ({ page }) => {
  await page.goto('/');
  for (const [name, state, off, on] of [
    ['All services', 'expanded', false, true],
    ['Dark theme', 'pressed', 'false', 'true'],
  ] as const) {
    for (const [before, after] of [
      [off, on],
      [on, off],
    ]) {
      expect((await nodeWith(page, 'button', name))?.states[state], name).toBe(before);
      await press(page, 'button', name);
      await expect
        .poll(async () => (await nodeWith(page, 'button', name))?.states[state])
        .toBe(after);
    }
  }

  await page.setViewportSize({ width: 390, height: 844 });
  await press(page, 'button', 'Menu');
  await expect
    .poll(async () => (await nodeWith(page, 'button', 'Menu'))?.states['expanded'])
    .toBe(true);
  expect(await nodeWith(page, 'navigation', 'Menu')).toBeDefined();
});

test('opening a question closes the one before', async ({ page }) => {
  await page.goto('/contact');
  const questions = async () =>
    (await accessibilityTree(page))
      .filter(({ role }) => role === 'DisclosureTriangleGrouped')
      .map(({ name, states }) => ({ name, isOpen: states['expanded'] }));
  const [first, second] = await questions();
  for (const { name = 'a question' } of [first ?? {}, second ?? {}]) {
    await press(page, 'DisclosureTriangleGrouped', name);
    await expect
      .poll(async () => (await questions()).filter(({ isOpen }) => isOpen))
      .toEqual([{ name, isOpen: true }]);
  }
});

test('the contact form announces required fields, errors and success', async ({
  page,
  mailTo,
  consoleMessages,
}) => {
  const email = uniqueEmail('ear');
  await page.goto('/contact');
  await fill(page, { 'Full Name': ' ', 'Email Address': email, 'Your Message': 'By ear.' });
  for (const name of ['Full Name', 'Email Address', 'Your Message']) {
    expect((await nodeWith(page, 'textbox', name))?.states).toMatchObject({
      required: true,
      invalid: 'false',
    });
  }
  await press(page, 'button', 'Send Message');
  await expect.poll(() => heard(page, 'alert')).toEqual(['Please check the marked fields.']);
  const field = await nodeWith(page, 'textbox', 'Full Name');
  expect(field?.states['invalid']).toBe('true');
  expect(field?.description).toMatch(/\w/);
  expectConsole(consoleMessages, /422|^Please check the marked fields\.$/);

  await fill(page, { 'Full Name': 'Asha Rao' });
  await expect
    .poll(async () => (await nodeWith(page, 'textbox', 'Full Name'))?.states['invalid'])
    .toBe('false');
  await page.evaluate(disableToastTimeouts);
  await press(page, 'button', 'Send Message');
  await expect
    .poll(() => heard(page, 'status'))
    .toEqual([`Message Sent Successfully! Thank you. We will reply to ${email}.`]);
  expect((await focused(page))?.role).toBe('status');
  await mailTo('sales@oculant.example', email);
});

test('a sign-up is announced in an existing live region', async ({ page }) => {
  await page.goto('/blog');
  const before = await heard(page, 'status');
  expect(before).not.toContain('Thank you for subscribing!');
  await page.evaluate(disableToastTimeouts);
  await fill(page, { 'Email Address': uniqueEmail('ear') });
  await press(page, 'button', 'Subscribe');
  await expect
    .poll(async () => (await heard(page, 'status')).join())
    .toContain('Thank you for subscribing!');
  expect(await heard(page, 'status'), 'the region was there').toHaveLength(before.length);
});

test('the application dialog is modal and describes its errors', async ({ page, mailTo }) => {
  const email = uniqueEmail('ear');
  await page.goto('/careers');
  await press(page, 'link', 'Apply Now');
  await expect
    .poll(async () => (await nodeWith(page, 'dialog', 'Position'))?.states)
    .toMatchObject({ modal: true });
  const behind = (await accessibilityTree(page)).filter(({ role }) => role === 'main');
  expect(behind, 'the page behind it is not told of').toEqual([]);
  expect((await focused(page))?.name).toBe('Full Name');

  await fill(page, {
    'Full Name': 'Ravi Kumar',
    Email: email,
    Position: 'AI Intern',
    'Cover Letter': 'I count people for fun.',
  });
  expect((await nodeWith(page, 'textbox', 'Phone Number'))?.description).toBe('(optional)');
  await press(page, 'button', 'Submit Application');
  await expect.poll(() => heard(page, 'alert')).toEqual(['Choose your résumé.']);
  await expect.poll(async () => (await focused(page))?.description).toBe('Choose your résumé.');

  await page.getByLabel('Resume/CV').setInputFiles({
    name: 'Ravi.pdf',
    mimeType: 'application/pdf',
    buffer: Buffer.from('%PDF-1.7\nRavi\nstartxref\n0\n%%EOF\n'),
  });
  await press(page, 'button', 'Submit Application');
  await expect
    .poll(async () => (await heard(page, 'status')).join())
    .toContain('Application Submitted!');
  expect((await focused(page))?.text).toContain('Application Submitted!');
  await mailTo('recruiters@oculant.example', email);
});

test('a page change announces the title', async ({ page }) => {
  await page.goto('/');
  await press(page, 'link', 'About');
  await expect
    .poll(async () => (await accessibilityTree(page)).filter(isLive).map(({ text }) => text))
    .toContain('About | Oculant');
  expect(await focused(page)).toMatchObject({ role: 'heading', name: 'Pioneering AI Security' });
});

async function press(page: Page, role: string, name: string) {
  await focusNode(page, role, name);
  await page.keyboard.press('Enter');
}

async function fill(page: Page, fields: Readonly<Record<string, string>>) {
  for (const [name, words] of Object.entries(fields)) {
    await focusNode(page, 'textbox', name);
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type(words);
  }
}

async function heard(page: Page, role: 'alert' | 'status'): Promise<string[]> {
  const tree = await accessibilityTree(page);
  return tree.filter(node => node.role === role && isLive(node)).map(({ text }) => text);
}

function isLive({ states }: AccessibilityNode): boolean {
  return states['live'] === 'polite' || states['live'] === 'assertive';
}

async function focused(page: Page): Promise<AccessibilityNode | undefined> {
  const tree = await accessibilityTree(page);
  return tree.findLast(({ states }) => states['focused'] === true);
}
