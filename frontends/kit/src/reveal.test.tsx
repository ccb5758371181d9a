// @vitest-environment happy-dom
import { act, render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { fakeView } from '../testing/fake-view.ts';
import { Reveal } from './reveal.tsx';

function placedAt(top: number, { still = false, height = 10 } = {}) {
  vi.stubGlobal('innerHeight', 800);
  vi.spyOn(Element.prototype, 'getBoundingClientRect').mockReturnValue(
    new DOMRect(0, top, 10, height),
  );
  vi.stubGlobal('matchMedia', () => ({ matches: still }));
}

test('what is below the view is hidden until a tenth of it is in view, and then shown for good', async () => {
  const view = fakeView();
  placedAt(900);
  await act(async () => render(<Reveal delay={200}>A card</Reveal>));
  const card = screen.getByText('A card');
  expect(card.dataset['reveal']).toBe('hidden');
  expect(card.style.getPropertyValue('--reveal-delay')).toBe('200ms');
  expect(await view.show()).toEqual([{ threshold: 0.1 }]);
  expect(card.dataset['reveal']).toBe('shown');
  expect(view.awaited()).toEqual([]);
});

test('what is higher than the view is shown when it fills a tenth of that', async () => {
  const view = fakeView();
  placedAt(900, { height: 1600 });
  await act(async () => render(<Reveal>A list</Reveal>));
  expect(await view.show()).toEqual([{ threshold: 0.05 }]);
});

test('what is in view already comes with its page', () => {
  const view = fakeView();
  placedAt(700);
  render(<Reveal>A card</Reveal>);
  expect(screen.getByText('A card').dataset['reveal']).toBe('arriving');
  expect(view.awaited()).toEqual([]);
});

test('nothing is hidden from who wants no motion', () => {
  const view = fakeView();
  placedAt(900, { still: true });
  render(<Reveal>A card</Reveal>);
  expect(screen.getByText('A card').dataset['reveal']).toBe('arriving');
  expect(view.awaited()).toEqual([]);
});

test('what was in the page’s HTML does not arrive again', async () => {
  fakeView();
  placedAt(700);
  const { renderToString } = await import('react-dom/server');
  const container = document.body.appendChild(document.createElement('div'));
  container.innerHTML = renderToString(<Reveal>A card</Reveal>);
  await act(async () => render(<Reveal>A card</Reveal>, { container, hydrate: true }));
  expect(screen.getByText('A card').dataset['reveal']).toBeUndefined();
});

test('all read where they are before the first of them is hidden', async () => {
  fakeView();
  placedAt(900);
  const seen: (string | undefined)[] = [];
  vi.spyOn(Element.prototype, 'getBoundingClientRect').mockImplementation(() => {
    seen.push(document.querySelector<HTMLElement>('[data-reveal=hidden]')?.dataset['reveal']);
    return new DOMRect(0, 900, 10, 10);
  });
  await act(async () =>
    render(
      <>
        <Reveal>One</Reveal>
        <Reveal>Two</Reveal>
      </>,
    ),
  );
  expect(seen).toEqual([undefined, undefined]);
  expect(screen.getByText('Two').dataset['reveal']).toBe('hidden');
});
