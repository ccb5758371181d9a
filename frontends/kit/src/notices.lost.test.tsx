// @vitest-environment happy-dom
import { act, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { FakeOperators } from '../testing/fake-operators.ts';
import { fakeOperators } from '../testing/fake-operators.ts';
import { pass } from '../testing/fake-time.ts';
import type { Notice } from './notice.ts';

const load = vi.hoisted(() => vi.fn());
vi.mock('./toaster.tsx', load);

const BACK: Notice = {
  kind: 'overlay',
  title: 'Your draft is back',
  text: 'We kept what you typed.',
};

let operators: FakeOperators;
const uncaught = vi.fn();

beforeEach(async () => {
  vi.useFakeTimers();
  // How far the code of notices is, is kept for as long as the page is open.
  vi.resetModules();
  operators = fakeOperators();
  load.mockReset().mockRejectedValue(new Error('Loading chunk failed.'));
  uncaught.mockReset();
  process.on('unhandledRejection', uncaught);
  Object.assign(HTMLElement.prototype, { showPopover: vi.fn(), hidePopover: vi.fn() });
  const { Notices } = await import('./toast-region.tsx');
  render(<Notices />);
});
afterEach(() => {
  process.off('unhandledRejection', uncaught);
});

async function tell(notice: Notice) {
  const { notify } = await import('./toast-region.tsx');
  await act(async () => notify(notice));
}

test('where the code of notices does not come, their words are read in the corner all the same', async () => {
  await tell(BACK);
  await pass(6_000);
  expect(screen.queryByText(BACK.title)).toBeNull();
  await pass(1_000);
  expect(screen.getByRole('alert').textContent).toBe('Your draft is back We kept what you typed.');
  expect(HTMLElement.prototype.showPopover).toHaveBeenCalled();
  await pass(5_000);
  expect(screen.queryByRole('alert')).toBeNull();
  expect(uncaught).not.toHaveBeenCalled();
});

test('that it does not come is told to the operators', async () => {
  await tell(BACK);
  await pass(60_000);
  expect(operators.told()).toEqual([{ remote: 'shell', reason: 'unreachable' }]);
});

// Last, because what hangs would be waited for by the next test, too.
test('while it hangs they are read there after eight seconds', async () => {
  load.mockReturnValue(new Promise(() => undefined));
  await tell(BACK);
  await pass(7_999);
  expect(screen.queryByText(BACK.title)).toBeNull();
  await pass(1);
  expect(screen.getByText(BACK.title)).toBeTruthy();
});
