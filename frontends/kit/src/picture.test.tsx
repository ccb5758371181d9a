// @vitest-environment happy-dom
import { fireEvent, render, screen } from '@testing-library/react';
import { renderToString } from 'react-dom/server';
import { beforeEach, expect, test, vi } from 'vitest';
import { fakeIntersectionObserver } from '../testing/fake-intersection-observer.ts';
import { Picture } from './picture.tsx';

const PICTURE = { src: '/shop.svg', alt: 'A shop', width: 800, height: 520 };

/** Whether the image has come, or failed, and how wide it is. */
function imageIs({ complete = false, naturalWidth = 0 }) {
  vi.spyOn(HTMLImageElement.prototype, 'complete', 'get').mockReturnValue(complete);
  vi.spyOn(HTMLImageElement.prototype, 'naturalWidth', 'get').mockReturnValue(naturalWidth);
}

beforeEach(() => imageIs({}));

test('a picture waits until it comes near the viewport, and then loads', async () => {
  const view = fakeIntersectionObserver();
  const { container } = render(<Picture {...PICTURE} />);
  expect(stateOf(container)).toBe('waiting');
  expect(screen.queryByRole('img')).toBeNull();
  expect(await view.show()).toEqual([{ rootMargin: '200px' }]);
  expect(stateOf(container)).toBe('loading');
  fireEvent.load(screen.getByRole('img', { name: 'A shop' }));
  expect(stateOf(container)).toBe('there');
});

test('its place pulses until it is there (section 4)', async () => {
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

test('in the page’s HTML a picture with priority does not pulse, which nothing would end without JavaScript', () => {
  const html = renderToString(<Picture {...PICTURE} priority="high" />);
  expect(html).toContain('data-awaited="false"');
});

test('a picture with priority loads at once, before others', () => {
  const view = fakeIntersectionObserver();
  render(<Picture {...PICTURE} priority="high" />);
  expect(screen.getByRole('img').getAttribute('fetchpriority')).toBe('high');
  expect(view.awaited()).toEqual([]);
});

test('a picture that cannot be loaded says so (section 8)', () => {
  render(<Picture {...PICTURE} priority="high" />);
  fireEvent.error(screen.getByRole('img'));
  expect(screen.queryByRole('img')).toBeNull();
  expect(screen.getByText('Image unavailable')).toBeTruthy();
});

test.each([
  [800, 'there'],
  [0, 'failed'],
])('a picture that came before anyone listened, %i pixels wide, is %s', (width, state) => {
  imageIs({ complete: true, naturalWidth: width });
  const { container } = render(<Picture {...PICTURE} priority="high" />);
  expect(stateOf(container)).toBe(state);
});

function stateOf(container: Element) {
  return container.querySelector('[data-state]')?.getAttribute('data-state');
}
