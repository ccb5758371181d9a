// @vitest-environment happy-dom
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { pass } from '../testing/fake-time.ts';
import type { Notice } from './notice.ts';
import { Notices, notify } from './toast-region.tsx';

/** What the browser was asked to do with the layer above the page; the DOM of the tests has none. */
const layer: string[] = [];

beforeEach(async () => {
  // What shows notices is fetched with the first one, which takes real time.
  await import('./toaster.tsx');
  vi.useFakeTimers();
  layer.length = 0;
  Object.assign(HTMLElement.prototype, {
    showPopover: () => layer.push('shown'),
    hidePopover: () => layer.push('hidden'),
  });
  render(<Notices />);
});
// What is in the corner is kept for as long as the page is open.
afterEach(() => pass(60_000));

async function tell(title: string, kind: Notice['kind'] = 'success') {
  notify({ kind, title, text: `What happened: ${title}.` });
  await pass(0);
  // Where it comes in, in two frames.
  await pass(50);
}

function isShown(title: string) {
  return screen.queryByText(title) !== null;
}

test('a notice says what happened, in the layer above the page', async () => {
  await tell('Application Submitted!');
  expect(screen.getByText('Application Submitted!')).toBeTruthy();
  expect(screen.getByText('What happened: Application Submitted!.')).toBeTruthy();
  expect(screen.getByRole('region', { name: /^Notifications/ })).toBeTruthy();
  expect(layer).toEqual(['hidden', 'shown']);
});

test('a notice stays for 4000 ms (section 9)', async () => {
  await tell('Sent');
  await pass(3_900);
  expect(isShown('Sent')).toBe(true);
  await pass(500);
  expect(isShown('Sent')).toBe(false);
});

test('an overlay notice takes the place of the one before, and stays for 5000 ms (section 9)', async () => {
  await tell('First', 'overlay');
  await pass(4_000);
  await tell('Second', 'overlay');
  expect(isShown('First')).toBe(false);
  await pass(4_800);
  expect(isShown('Second')).toBe(true);
  await pass(600);
  expect(isShown('Second')).toBe(false);
});

test('three notices are shown at once, the newest of them (section 9)', async () => {
  for (const title of ['One', 'Two', 'Three', 'Four']) {
    await tell(title, 'error');
  }
  const visible = Array.from(document.querySelectorAll('[data-visible="true"] [data-title]'));
  expect(visible.map(({ textContent }) => textContent)).toEqual(['Four', 'Three', 'Two']);
});

test('Alt+T leads the keyboard to the notices (section 9)', async () => {
  await tell('Something happened');
  const user = userEvent.setup({ advanceTimers: vi.advanceTimersByTime });
  await user.keyboard('{Alt>}t{/Alt}');
  expect(document.activeElement?.getAttribute('data-sonner-toaster')).not.toBeNull();
});
