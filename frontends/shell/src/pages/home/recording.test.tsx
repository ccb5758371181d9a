// @vitest-environment happy-dom
import { act, fireEvent, render, screen, within } from '@testing-library/react';
import { Profiler } from 'react';
import { renderToString } from 'react-dom/server';
import { beforeEach, expect, test, vi } from 'vitest';
import { fakeAnimations } from '../../../../kit/testing/fake-animations.ts';
import { fakeIntersectionObserver } from '../../../../kit/testing/fake-intersection-observer.ts';
import { advanceTimers } from '../../../../kit/testing/fake-time.ts';

/** Whether the street without anybody has come. */
let street: PromiseWithResolvers<void>;
/** What moves. */
let animations: ReturnType<typeof fakeAnimations>;

beforeEach(() => {
  vi.useFakeTimers();
  // Whether it has played is remembered for as long as the page is open.
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

test('it plays once when it is seen, and stays at its end', async () => {
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

test('while it plays React renders when it begins and at the end', async () => {
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

test('whoever takes over is left alone', async () => {
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

test('a key goes on from what is shown when it is pressed', async () => {
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

test('nothing goes on when its page is left while it plays', async () => {
  wantsMotion(true);
  const { view, unmount } = await open();
  await load();
  await view.show({ isIntersecting: true });
  await advanceTimers(1000);
  unmount();
  expect(animations.size).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

test('a browser that cannot play it backwards first shows its end', async () => {
  wantsMotion(true);
  vi.stubGlobal('CSS', { supports: () => false });
  const { view } = await open();
  await load();
  expect(view.awaited()).toEqual([]);
  expect(slider().valueAsNumber).toBe(3);
});

test('it plays for nobody who wants no motion, and can be gone through all the same', async () => {
  wantsMotion(false);
  const { view } = await open();
  await load();
  expect(view.awaited()).toEqual([]);
  fireEvent.change(slider(), { target: { value: '0' } });
  expect(status()).toBe('cam-04 · 21:02 · 0 alerts');
  expect(slider().getAttribute('aria-valuetext')).toBe('21:02');
});

test('what was noticed leads to when it was, and the latest of it is marked', async () => {
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

test('in the page’s HTML it is a picture that tells all, with nothing in it that would do nothing', async () => {
  const { Recording } = await import('./recording.tsx');
  const html = renderToString(<Recording />);
  expect(html).not.toMatch(/<(?:button|input)/);
  for (const words of ['21:34', '3 alerts', 'unattended 0.91', 'Someone lingers at the door']) {
    expect(html).toContain(words);
  }
});

test('where the street does not come there is no slider and no label, and the list stays', async () => {
  wantsMotion(true);
  const { view } = await open();
  await act(async () => street.reject(new Error('404')));
  expect(screen.queryByRole('slider')).toBeNull();
  expect(view.awaited()).toEqual([]);
  expect(screen.queryByText('unattended 0.91')).toBeNull();
  expect(screen.getByText('A parcel stays behind')).toBeTruthy();
});
