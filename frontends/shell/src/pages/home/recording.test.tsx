// @vitest-environment happy-dom
import { act, fireEvent, render, screen, within } from '@testing-library/react';
import { Profiler } from 'react';
import { renderToString } from 'react-dom/server';
import { beforeEach, expect, test, vi } from 'vitest';
import { fakeAnimations } from '../../../../kit/testing/fake-animations.ts';
import { fakeIntersectionObserver } from '../../../../kit/testing/fake-intersection-observer.ts';
import { advanceTimers } from '../../../../kit/testing/fake-time.ts';

let street: PromiseWithResolvers<void>;
let animations: ReturnType<typeof fakeAnimations>;

beforeEach(() => {
  vi.useFakeTimers();
  // The module remembers that the recording has played.
  vi.resetModules();
  street = Promise.withResolvers();
  animations = fakeAnimations();
  vi.stubGlobal(
    'Image',
    class {
      decode = () => street.promise;
    },
  );
});

function wantsMotion(isWanted: boolean) {
  vi.stubGlobal('matchMedia', () => ({ matches: !isWanted }));
}

async function open() {
  const view = fakeIntersectionObserver();
  const { Recording } = await import('./recording.tsx');
  const onRender = vi.fn();
  const page = render(
    <Profiler id="recording" onRender={onRender}>
      <Recording />
    </Profiler>,
  );
  return { view, Recording, onRender, ...page };
}

function load() {
  return act(async () => street.resolve());
}

function slider() {
  return screen.getByRole<HTMLInputElement>('slider', { name: 'Time of the recording' });
}

function status() {
  return screen.getByText(/^cam-04/).textContent;
}

test('the recording plays once in view, then stops', async () => {
  wantsMotion(true);
  const { view, Recording, unmount } = await open();
  await load();
  await advanceTimers(5000);
  expect(slider().valueAsNumber).toBe(3);
  expect(animations.size).toBe(0);
  await view.show({ isIntersecting: true });
  await advanceTimers(1800);
  expect(animations.size).toBeGreaterThan(0);
  await advanceTimers(2000);
  expect(slider().valueAsNumber).toBe(3);
  expect(status()).toBe('cam-04 · 21:34 · 3 alerts');
  expect(animations.size).toBe(0);

  unmount();
  render(<Recording />);
  await load();
  expect(view.awaited()).toEqual([]);
});

test('React renders only at the start and end of playback', async () => {
  wantsMotion(true);
  const { view, onRender } = await open();
  await load();
  onRender.mockClear();
  await view.show({ isIntersecting: true });
  for (let frame = 0; frame < 300; frame += 1) {
    await advanceTimers(16);
  }
  expect(onRender).toHaveBeenCalledTimes(2);
});

test('moving the slider stops playback', async () => {
  wantsMotion(true);
  const { view } = await open();
  await load();
  await view.show({ isIntersecting: true });
  await advanceTimers(1000);
  fireEvent.change(slider(), { target: { value: '2.1' } });
  expect(animations.size).toBe(0);
  await advanceTimers(5000);
  expect(slider().valueAsNumber).toBeCloseTo(2.1);
  expect(status()).toBe('cam-04 · 21:25 · 2 alerts');
  expect(slider().getAttribute('aria-valuetext')).toBe('21:25, A parcel stays behind');
});

test('a key continues from the playing time', async () => {
  wantsMotion(true);
  const { view } = await open();
  await load();
  await view.show({ isIntersecting: true });
  await advanceTimers(1100);
  fireEvent.keyDown(slider(), { key: 'ArrowRight' });
  expect(slider().valueAsNumber).toBeCloseTo(0.8, 1);
  await advanceTimers(5000);
  expect(slider().valueAsNumber).toBe(3);
});

test('leaving the page stops playback', async () => {
  wantsMotion(true);
  const { view, unmount } = await open();
  await load();
  await view.show({ isIntersecting: true });
  await advanceTimers(1000);
  unmount();
  expect(animations.size).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

test('a browser without `linear()` easing shows the end', async () => {
  wantsMotion(true);
  vi.stubGlobal('CSS', { supports: () => false });
  const { view } = await open();
  await load();
  expect(view.awaited()).toEqual([]);
  expect(slider().valueAsNumber).toBe(3);
});

test('with reduced motion the recording plays only by slider', async () => {
  wantsMotion(false);
  const { view } = await open();
  await load();
  expect(view.awaited()).toEqual([]);
  fireEvent.change(slider(), { target: { value: '0' } });
  expect(status()).toBe('cam-04 · 21:02 · 0 alerts');
  expect(slider().getAttribute('aria-valuetext')).toBe('21:02');
});

test('a finding seeks to its time and is marked', async () => {
  wantsMotion(false);
  await open();
  await load();
  const list = screen.getByRole('list', { name: 'What the system noticed' });
  fireEvent.click(within(list).getByRole('button', { name: /lingers/ }));
  expect(slider().valueAsNumber).toBeCloseTo(1.25);
  expect(status()).toBe('cam-04 · 21:14 · 1 alert');
  const marked = within(list)
    .getAllByRole('listitem')
    .filter(item => item.getAttribute('aria-current') === 'time');
  expect(marked.map(({ textContent }) => textContent)).toEqual([
    '21:14Someone lingers at the door',
  ]);
});

test('the prerendered recording is a picture without controls', async () => {
  const { Recording } = await import('./recording.tsx');
  const html = renderToString(<Recording />);
  expect(html).not.toMatch(/<(?:button|input)/);
  for (const words of ['21:34', '3 alerts', 'unattended 0.91', 'Someone lingers at the door']) {
    expect(html).toContain(words);
  }
});

test('without the street picture only the list shows', async () => {
  wantsMotion(true);
  const { view } = await open();
  await act(async () => street.reject(new Error('404')));
  expect(screen.queryByRole('slider')).toBeNull();
  expect(view.awaited()).toEqual([]);
  expect(screen.queryByText('unattended 0.91')).toBeNull();
  expect(screen.getByText('A parcel stays behind')).toBeTruthy();
});
