// @vitest-environment happy-dom
import { fireEvent, render, screen } from '@testing-library/react';
import { renderToString } from 'react-dom/server';
import { beforeEach, expect, test, vi } from 'vitest';
import { fakeIntersectionObserver } from '../testing/fake-intersection-observer.ts';
import { Picture } from './picture.tsx';

const PICTURE = { src: '/shop.svg', alt: 'A shop', width: 800, height: 520 };

/** Sets whether images are complete, and their width, which is 0 after a failure. */
function imageIs({ complete = false, naturalWidth = 0 }) {
  vi.spyOn(HTMLImageElement.prototype, 'complete', 'get').mockReturnValue(complete);
  vi.spyOn(HTMLImageElement.prototype, 'naturalWidth', 'get').mockReturnValue(naturalWidth);
}

beforeEach(() => imageIs({}));

test('a picture loads when it comes near the viewport', async () => {
  const view = fakeIntersectionObserver();
  const { container } = render(<Picture {...PICTURE} />);
  expect(stateOf(container)).toBe('waiting');
  expect(screen.queryByRole('img')).toBeNull();
  expect(await view.show()).toEqual([{ rootMargin: '200px' }]);
  expect(stateOf(container)).toBe('loading');
  fireEvent.load(screen.getByRole('img', { name: 'A shop' }));
  expect(stateOf(container)).toBe('there');
});

test('a placeholder pulses until the picture is loaded (section 4)', async () => {
  const view = fakeIntersectionObserver();
  const { container } = render(<Picture {...PICTURE} />);
  const isAwaited = () => container.querySelector('[data-awaited]')?.getAttribute('data-awaited');
  expect(isAwaited()).toBe('true');
  await view.show();
  expect(stateOf(container)).toBe('loading');
  expect(isAwaited()).toBe('true');
  fireEvent.load(screen.getByRole('img'));
  expect(isAwaited()).toBe('false');
});

test('a prerendered picture with priority does not pulse', () => {
  const html = renderToString(<Picture {...PICTURE} priority="high" />);
  expect(html).toContain('data-awaited="false"');
});

test('a picture with priority loads at once, before others', () => {
  const view = fakeIntersectionObserver();
  render(<Picture {...PICTURE} priority="high" />);
  expect(screen.getByRole('img').getAttribute('fetchpriority')).toBe('high');
  expect(view.awaited()).toEqual([]);
});

test('a failed picture shows a message (section 8)', () => {
  render(<Picture {...PICTURE} priority="high" />);
  fireEvent.error(screen.getByRole('img'));
  expect(screen.queryByRole('img')).toBeNull();
  expect(screen.getByText('Image unavailable')).toBeTruthy();
});

test.each([
  [800, 'there'],
  [0, 'failed'],
])('a picture complete before hydration, %i pixels wide, is %s', (width, state) => {
  imageIs({ complete: true, naturalWidth: width });
  const { container } = render(<Picture {...PICTURE} priority="high" />);
  expect(stateOf(container)).toBe(state);
});

function stateOf(container: Element) {
  return container.querySelector('[data-state]')?.getAttribute('data-state');
}
