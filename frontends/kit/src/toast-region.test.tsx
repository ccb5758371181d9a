// @vitest-environment happy-dom
import { render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { advanceTimers } from '../testing/fake-time.ts';
import { setupUser } from '../testing/setup-user.ts';
import type { Toast } from './toast.ts';
import { showToast, ToastRegion } from './toast-region.tsx';

/** Calls of the popover API, which happy-dom lacks. */
const layer: string[] = [];

beforeEach(async () => {
  // The first toast loads the toaster, which takes real time.
  await import('./toaster.tsx');
  vi.useFakeTimers();
  layer.length = 0;
  Object.assign(HTMLElement.prototype, {
    showPopover: () => layer.push('shown'),
    hidePopover: () => layer.push('hidden'),
  });
  render(<ToastRegion />);
});
// sonner keeps toasts in its module until they expire.
afterEach(() => advanceTimers(60_000));

async function tell(title: string, kind: Toast['kind'] = 'success') {
  showToast({ kind, title, text: `What happened: ${title}.` });
  await advanceTimers(0);
  // A toast appears within two frames.
  await advanceTimers(50);
}

function isShown(title: string) {
  return screen.queryByText(title) !== null;
}

test('a toast shows its message in the top layer', async () => {
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

test('an overlay toast replaces the last for 5000 ms (section 9)', async () => {
  await tell('First', 'overlay');
  await advanceTimers(4_000);
  await tell('Second', 'overlay');
  expect(isShown('First')).toBe(false);
  await advanceTimers(4_800);
  expect(isShown('Second')).toBe(true);
  await advanceTimers(600);
  expect(isShown('Second')).toBe(false);
});

test('the three newest toasts are shown at once (section 9)', async () => {
  for (const title of ['One', 'Two', 'Three', 'Four']) {
    await tell(title, 'error');
  }
  const visible = Array.from(document.querySelectorAll('[data-visible="true"] [data-title]'));
  expect(visible.map(({ textContent }) => textContent)).toEqual(['Four', 'Three', 'Two']);
});

test('Alt+T moves the focus to the toasts (section 9)', async () => {
  await tell('Something happened');
  await setupUser().keyboard('{Alt>}t{/Alt}');
  expect(document.activeElement?.getAttribute('data-sonner-toaster')).not.toBeNull();
});
