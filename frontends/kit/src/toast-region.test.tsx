// @vitest-environment happy-dom
import { render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { advanceTimers } from '../testing/fake-time.ts';
import { setupUser } from '../testing/setup-user.ts';
import type { Toast } from './toast.ts';
import { showToast, ToastRegion } from './toast-region.tsx';

/** What the browser was asked to do with the layer above the page; the DOM of the tests has none. */
const layer: string[] = [];

beforeEach(async () => {
  // What shows toasts is fetched with the first one, which takes real time.
  await import('./toaster.tsx');
  vi.useFakeTimers();
  layer.length = 0;
  Object.assign(HTMLElement.prototype, {
    showPopover: () => layer.push('shown'),
    hidePopover: () => layer.push('hidden'),
  });
  render(<ToastRegion />);
});
// What is in the corner is kept for as long as the page is open.
afterEach(() => advanceTimers(60_000));

async function tell(title: string, kind: Toast['kind'] = 'success') {
  showToast({ kind, title, text: `What happened: ${title}.` });
  await advanceTimers(0);
  // Where it comes in, in two frames.
  await advanceTimers(50);
}

function isShown(title: string) {
  return screen.queryByText(title) !== null;
}

test('a toast says what happened, in the layer above the page', async () => {
  await tell('Application Submitted!');
  expect(screen.getByText('Application Submitted!')).toBeTruthy();
  expect(screen.getByText('What happened: Application Submitted!.')).toBeTruthy();
  expect(screen.getByRole('region', { name: /^Notifications/ })).toBeTruthy();
  expect(layer).toEqual(['hidden', 'shown']);
});

test('a toast stays for 4000 ms (section 9)', async () => {
  await tell('Sent');
  await advanceTimers(3_900);
  expect(isShown('Sent')).toBe(true);
  await advanceTimers(500);
  expect(isShown('Sent')).toBe(false);
});

test('an overlay toast takes the place of the one before, and stays for 5000 ms (section 9)', async () => {
  await tell('First', 'overlay');
  await advanceTimers(4_000);
  await tell('Second', 'overlay');
  expect(isShown('First')).toBe(false);
  await advanceTimers(4_800);
  expect(isShown('Second')).toBe(true);
  await advanceTimers(600);
  expect(isShown('Second')).toBe(false);
});

test('three toasts are shown at once, the newest of them (section 9)', async () => {
  for (const title of ['One', 'Two', 'Three', 'Four']) {
    await tell(title, 'error');
  }
  const visible = Array.from(document.querySelectorAll('[data-visible="true"] [data-title]'));
  expect(visible.map(({ textContent }) => textContent)).toEqual(['Four', 'Three', 'Two']);
});

test('Alt+T leads the keyboard to the toasts (section 9)', async () => {
  await tell('Something happened');
  await setupUser().keyboard('{Alt>}t{/Alt}');
  expect(document.activeElement?.getAttribute('data-sonner-toaster')).not.toBeNull();
});
