import { describe, expect, test } from 'vitest';
import { mailTo, uniqueEmail } from '../../../kit/testing/inbox.ts';
import { SAMPLE_PATHS } from '../../../kit/testing/sample-paths.ts';
import { focusedStop, noteTabStops } from '../../../kit/testing/tab-stops.ts';
import { VISIBLE_TIMEOUT_MS } from './engine.ts';
import { ENGINES } from './engines.ts';
import type { Visitor } from './visitor.ts';
import { visitorsOf } from './visitor.ts';

// These tests complete tasks without a mouse.

describe.each(ENGINES)('$name', engine => {
  const visitor = visitorsOf(engine);

  test.each(SAMPLE_PATHS)('%s: Tab reaches every control in order and in view', async route => {
    const { open, evaluate, tab } = visitor();
    await open(route);
    let count = 0;
    // The recording's slider appears late.
    const isSettled = async () => {
      const before = count;
      count = await evaluate(noteTabStops);
      return count === before;
    };
    await expect.poll(isSettled, { interval: 1000, timeout: VISIBLE_TIMEOUT_MS }).toBe(true);
    expect(count).toBeGreaterThan(10);
    for (let stop = 0; stop < count; stop += 1) {
      await tab.press('Tab');
      await expect
        .poll(() => evaluate(focusedStop), { timeout: VISIBLE_TIMEOUT_MS })
        .toEqual({ stop, hasFocusRing: true, isInView: true });
    }
  });

  test('a message can be written and sent', async () => {
    const { open, reads, stack } = visitor();
    const email = uniqueEmail('keys');
    await open('/contact');
    await write(visitor(), {
      'Full Name': 'Asha Rao',
      'Email Address': email,
      'Your Message': 'Without a mouse.',
    });
    await press(visitor(), 'button', 'Send Message');
    await reads('Message Sent Successfully!');
    await mailTo(stack, 'sales@oculant.example', email);
  });

  test('the newsletter form can be submitted', async () => {
    const { open, reads } = visitor();
    await open('/blog');
    await write(visitor(), { 'Email Address': uniqueEmail('keys') });
    await press(visitor(), 'button', 'Subscribe');
    await reads('Thank you for subscribing!');
  });

  test('the application dialog works by keyboard and returns the focus', async () => {
    const { open, the, isThere, evaluate, tab } = visitor();
    await open('/careers');
    await press(visitor(), 'link', 'Apply Now');
    await the('dialog', 'Position');
    expect(await tab.exposesFocus('textbox', 'Full Name')).toBe(true);
    await tab.type('Ravi Kumar');
    await write(visitor(), {
      Email: uniqueEmail('keys'),
      Position: 'AI Intern',
      'Cover Letter': 'By keys.',
    });
    await press(visitor(), 'button', 'Submit Application');
    await the('alert', '');
    const focusIsAt = (selector: string) => document.activeElement?.matches(selector) ?? null;
    await expect.poll(() => evaluate(focusIsAt, '[name=resume][aria-invalid=true]')).toBe(true);
    await tab.press('Escape');
    await expect.poll(() => isThere('dialog', 'Position')).toBe(false);
    expect(await tab.exposesFocus('link', 'Apply Now')).toBe(true);
  });

  test('Enter opens a question, and Space closes it', async () => {
    const { open, evaluate, tab } = visitor();
    await open('/contact');
    const nextStop = async () => {
      await tab.press('Tab');
      return evaluate(() => document.activeElement?.localName ?? null);
    };
    await expect.poll(nextStop, { timeout: VISIBLE_TIMEOUT_MS }).toBe('summary');
    const isOpen = () =>
      evaluate(() => document.activeElement?.closest('details')?.hasAttribute('open') ?? null);
    await tab.press('Enter');
    await expect.poll(isOpen).toBe(true);
    await tab.press('Space');
    await expect.poll(isOpen).toBe(false);
  });
});

async function press({ tabTo, tab }: Visitor, role: string, name: string) {
  await tabTo(role, name);
  expect(await tab.exposesFocus(role, name), `${role} ${name}`).toBe(true);
  await tab.press('Enter');
}

/** Fills in the fields in their tab order. */
async function write({ tabTo, tab }: Visitor, fields: Readonly<Record<string, string>>) {
  for (const [label, words] of Object.entries(fields)) {
    await tabTo('textbox', label);
    expect(await tab.exposesFocus('textbox', label), label).toBe(true);
    await tab.type(words);
  }
}
