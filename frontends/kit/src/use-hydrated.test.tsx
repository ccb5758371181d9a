// @vitest-environment happy-dom
import { act, render, screen } from '@testing-library/react';
import type { ReactElement } from 'react';
import { renderToString } from 'react-dom/server';
import { beforeEach, expect, test } from 'vitest';
import { useBrowserValue, useHydrated, useWasPrerendered } from './use-hydrated.ts';

/** What was rendered, in order. */
let rendered: string[];

beforeEach(() => {
  rendered = [];
});

function Shown({ children }: { children: string }) {
  rendered.push(children);
  return <p>{children}</p>;
}

function Hydrated() {
  return <Shown>{useHydrated() ? 'own' : 'prerendered'}</Shown>;
}

function Value({ prerendered }: { prerendered: string }) {
  return <Shown>{useBrowserValue(() => 'known', prerendered)}</Shown>;
}

function Origin() {
  return <Shown>{useWasPrerendered() ? 'prerendered' : 'brought later'}</Shown>;
}

/** Hydrates HTML as it comes from the build. */
async function hydrate(ui: ReactElement) {
  const container = document.body.appendChild(document.createElement('div'));
  container.innerHTML = renderToString(ui);
  rendered = [];
  await act(async () => render(ui, { container, hydrate: true }));
}

test('a page repeats its HTML, and then shows what is its own', async () => {
  await hydrate(<Hydrated />);
  expect(rendered).toEqual(['prerendered', 'own']);
});

test('what only the browser knows is rendered a second time only where it is something else', async () => {
  await hydrate(<Value prerendered="unknown" />);
  expect(rendered).toEqual(['unknown', 'known']);
  await hydrate(<Value prerendered="known" />);
  expect(rendered).toEqual(['known']);
});

test('what was in the page’s HTML is known as that for good, and is rendered once', async () => {
  await hydrate(<Origin />);
  expect(rendered).toEqual(['prerendered']);
});

test('what comes later is known as that for good', async () => {
  const { rerender } = await act(async () => render(<Origin />));
  await act(async () => rerender(<Origin />));
  expect(screen.getByText('brought later')).toBeDefined();
  expect(new Set(rendered)).toEqual(new Set(['brought later']));
});
