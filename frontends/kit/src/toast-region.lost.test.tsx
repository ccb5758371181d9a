// @vitest-environment happy-dom
import { act, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { FakeFetch } from '../testing/fake-fetch.ts';
import { fakeFetch } from '../testing/fake-fetch.ts';
import { advanceTimers } from '../testing/fake-time.ts';
import type { Toast } from './toast.ts';

const load = vi.hoisted(() => vi.fn());
vi.mock('./toaster.tsx', load);

const BACK: Toast = {
  kind: 'overlay',
  title: 'Your draft is back',
  text: 'We kept what you typed.',
};

let network: FakeFetch;
const uncaught = vi.fn();

beforeEach(async () => {
  vi.useFakeTimers();
  // The module keeps the load state of the toaster.
  vi.resetModules();
  network = fakeFetch();
  load.mockReset().mockRejectedValue(new Error('Loading chunk failed.'));
  uncaught.mockReset();
  process.on('unhandledRejection', uncaught);
  Object.assign(HTMLElement.prototype, { showPopover: vi.fn(), hidePopover: vi.fn() });
  const { ToastRegion } = await import('./toast-region.tsx');
  render(<ToastRegion />);
});
afterEach(() => {
  process.off('unhandledRejection', uncaught);
});

async function tell(toast: Toast) {
  const { showToast } = await import('./toast-region.tsx');
  await act(async () => showToast(toast));
}

test('without the toaster, toasts are shown as plain text', async () => {
  await tell(BACK);
  await advanceTimers(6_000);
  expect(screen.queryByText(BACK.title)).toBeNull();
  await advanceTimers(1_000);
  expect(screen.getByRole('alert').textContent).toBe('Your draft is back We kept what you typed.');
  expect(HTMLElement.prototype.showPopover).toHaveBeenCalled();
  await advanceTimers(5_000);
  expect(screen.queryByRole('alert')).toBeNull();
  expect(uncaught).not.toHaveBeenCalled();
});

test('a toaster that does not load is reported', async () => {
  await tell(BACK);
  await advanceTimers(60_000);
  expect(network.reports()).toEqual([{ remote: 'shell', reason: 'unreachable' }]);
});

// This test is last, because a later test would also wait for the hanging import.
test('plain toasts replace a hanging toaster after eight seconds', async () => {
  load.mockReturnValue(new Promise(() => undefined));
  await tell(BACK);
  await advanceTimers(7_999);
  expect(screen.queryByText(BACK.title)).toBeNull();
  await advanceTimers(1);
  expect(screen.getByText(BACK.title)).toBeTruthy();
});
