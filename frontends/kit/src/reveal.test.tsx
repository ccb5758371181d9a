// @vitest-environment happy-dom
import { act, render, screen } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { fakeIntersectionObserver } from '../testing/fake-intersection-observer.ts';

const VIEW = new DOMRect(0, 0, 10, 800);

/** Observer entry of an element at this position. */
function at(top: number, height = 100) {
  const shown = Math.max(0, Math.min(top + height, VIEW.height) - Math.max(top, 0));
  return {
    boundingClientRect: new DOMRect(0, top, 10, height),
    rootBounds: VIEW,
    intersectionRatio: shown / height,
  };
}

function rendered(...[ui, options]: Parameters<typeof render>) {
  return act(async () => render(ui, options));
}

function revealOf(text: string) {
  return screen.getByText(text).dataset['reveal'];
}

function wantsMotion(isWanted = true) {
  vi.stubGlobal('matchMedia', () => ({ matches: !isWanted }));
}

let Reveal: typeof import('./reveal.tsx').Reveal;

beforeEach(async () => {
  wantsMotion();
  // The module keeps one observer for all elements.
  vi.resetModules();
  ({ Reveal } = await import('./reveal.tsx'));
});

test('an element is revealed once a tenth is in view', async () => {
  const view = fakeIntersectionObserver();
  await rendered(<Reveal delayMs={200}>A card</Reveal>);
  const [options] = await view.show(at(900));
  expect(options?.threshold).toContain(0.1);
  expect(screen.getByText('A card').style.getPropertyValue('--reveal-delay')).toBe('200ms');
  for (const [top, state] of [
    [900, 'hidden'],
    [795, 'hidden'],
    [790, 'shown'],
  ] as const) {
    await view.show(at(top));
    expect(revealOf('A card')).toBe(state);
  }
  expect(view.awaited()).toEqual([]);
});

test('a tall element appears at a tenth of the viewport', async () => {
  const view = fakeIntersectionObserver();
  await rendered(<Reveal>A list</Reveal>);
  const [options] = await view.show(at(900, 1600));
  expect(options?.threshold).toContain(0.05);
  await view.show(at(730, 1600));
  expect(revealOf('A list')).toBe('hidden');
  await view.show(at(720, 1600));
  expect(revealOf('A list')).toBe('shown');
});

test('an element in view at first arrives with its page', async () => {
  for (const top of [700, 799, -300]) {
    const view = fakeIntersectionObserver();
    const { unmount } = await rendered(<Reveal>A card</Reveal>);
    await view.show(at(top));
    expect(revealOf('A card')).toBe('arriving');
    expect(view.awaited()).toEqual([]);
    unmount();
  }
});

test('an unmounted element is no longer observed', async () => {
  const view = fakeIntersectionObserver();
  const { unmount } = await rendered(<Reveal>A card</Reveal>);
  expect(view.awaited()).toHaveLength(1);
  unmount();
  expect(view.awaited()).toEqual([]);
});

test('with reduced motion no element is hidden', async () => {
  const view = fakeIntersectionObserver();
  wantsMotion(false);
  await rendered(<Reveal>A card</Reveal>);
  expect(revealOf('A card')).toBe('arriving');
  expect(view.awaited()).toEqual([]);
});

test('prerendered elements do not arrive again', async () => {
  fakeIntersectionObserver();
  const { renderToString } = await import('react-dom/server');
  const container = document.body.appendChild(document.createElement('div'));
  container.innerHTML = renderToString(<Reveal>A card</Reveal>);
  await rendered(<Reveal>A card</Reveal>, { container, hydrate: true });
  expect(screen.getByText('A card').dataset['reveal']).toBeUndefined();
});

test('one observer serves all elements, without a forced layout', async () => {
  const asked = vi.spyOn(Element.prototype, 'getBoundingClientRect');
  const observe = vi.fn();
  fakeIntersectionObserver();
  vi.stubGlobal(
    'IntersectionObserver',
    vi.fn(
      class {
        observe = observe;
        unobserve = vi.fn();
      },
    ),
  );
  await rendered(
    <>
      <Reveal>One</Reveal>
      <Reveal>Two</Reveal>
    </>,
  );
  expect(asked).not.toHaveBeenCalled();
  expect(observe).toHaveBeenCalledTimes(2);
  expect(IntersectionObserver).toHaveBeenCalledTimes(1);
});
