// @vitest-environment happy-dom
import { fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { advanceTimers } from '../testing/fake-time.ts';

let Tooltip: typeof import('./tooltip.tsx').Tooltip;

beforeEach(async () => {
  vi.useFakeTimers();
  // The module keeps the time when the last tooltip closed.
  vi.resetModules();
  ({ Tooltip } = await import('./tooltip.tsx'));
  render(
    <>
      <Tooltip text="One network">
        <button type="button">1</button>
      </Tooltip>
      <Tooltip text="Another network">
        <button type="button">2</button>
      </Tooltip>
    </>,
  );
});

function button(name: string) {
  return screen.getByRole('button', { name });
}

function point(name: string, pointerType = 'mouse') {
  fireEvent.pointerEnter(button(name), { pointerType });
}

function leave(name: string) {
  fireEvent.pointerLeave(button(name), { pointerType: 'mouse' });
}

const isOpen = (words: string) => screen.queryByText(words) !== null;

test('a tooltip opens after the pointer rests for 700 ms (section 9)', async () => {
  point('1');
  await advanceTimers(699);
  expect(isOpen('One network')).toBe(false);
  await advanceTimers(1);
  expect(isOpen('One network')).toBe(true);
  leave('1');
  await advanceTimers(0);
  expect(isOpen('One network')).toBe(false);
});

test('a pointer that leaves early opens nothing', async () => {
  point('1');
  await advanceTimers(699);
  leave('1');
  await advanceTimers(10_000);
  expect(isOpen('One network')).toBe(false);
});

test.each([
  [299, true],
  [300, false],
])('%i ms after a close the next opens at once: %s (section 9)', async (between, atOnce) => {
  point('1');
  await advanceTimers(700);
  leave('1');
  await advanceTimers(between);
  point('2');
  await advanceTimers(1);
  expect(isOpen('Another network')).toBe(atOnce);
  await advanceTimers(700);
  expect(isOpen('Another network')).toBe(true);
  leave('2');
});

test('Escape closes a tooltip', async () => {
  point('1');
  await advanceTimers(700);
  fireEvent.keyDown(window, { key: 'a' });
  expect(isOpen('One network')).toBe(true);
  fireEvent.keyDown(window, { key: 'Escape' });
  expect(isOpen('One network')).toBe(false);
});

test('a press closes a tooltip', async () => {
  point('1');
  await advanceTimers(700);
  fireEvent.pointerDown(button('1'));
  expect(isOpen('One network')).toBe(false);
});

test('touch opens nothing', async () => {
  point('1', 'touch');
  await advanceTimers(10_000);
  expect(isOpen('One network')).toBe(false);
});

test('keyboard focus opens a tooltip and blur closes it', async () => {
  const control = button('1');
  focusIsVisible(control, true);
  fireEvent.focus(control);
  await advanceTimers(0);
  expect(isOpen('One network')).toBe(true);
  fireEvent.blur(control);
  await advanceTimers(0);
  expect(isOpen('One network')).toBe(false);
});

test('focus from a click opens nothing', async () => {
  const control = button('1');
  focusIsVisible(control, false);
  fireEvent.focus(control);
  await advanceTimers(10_000);
  expect(isOpen('One network')).toBe(false);
});

test('unmounting clears the timer', async () => {
  const { unmount } = render(
    <Tooltip text="Gone">
      <button type="button">3</button>
    </Tooltip>,
  );
  point('3');
  expect(vi.getTimerCount()).toBe(1);
  unmount();
  expect(vi.getTimerCount()).toBe(0);
});

/** Fakes `:focus-visible`, because happy-dom does not know what caused the focus. */
function focusIsVisible(control: HTMLElement, isVisible: boolean) {
  vi.spyOn(control, 'matches').mockImplementation(
    selector => selector === ':focus-visible' && isVisible,
  );
}
