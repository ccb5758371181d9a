// @vitest-environment happy-dom
import { act, render, screen } from '@testing-library/react';
import type { ReactElement } from 'react';
import { renderToString } from 'react-dom/server';
import { beforeEach, expect, test } from 'vitest';
import { useBrowserValue, useHydrated, useWasPrerendered } from './use-hydrated.ts';

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

async function hydrate(ui: ReactElement) {
  const container = document.body.appendChild(document.createElement('div'));
  container.innerHTML = renderToString(ui);
  rendered = [];
  await act(async () => render(ui, { container, hydrate: true }));
}

test('the first render repeats the HTML, the second may differ', async () => {
  await hydrate(<Hydrated />);
  expect(rendered).toEqual(['prerendered', 'own']);
});

test('a browser value renders again only if it differs', async () => {
  await hydrate(<Value prerendered="unknown" />);
  expect(rendered).toEqual(['unknown', 'known']);
  await hydrate(<Value prerendered="known" />);
  expect(rendered).toEqual(['known']);
});

test('prerendered content stays marked as such, with one render', async () => {
  await hydrate(<Origin />);
  expect(rendered).toEqual(['prerendered']);
});

test('later content is never marked as prerendered', async () => {
  const { rerender } = await act(async () => render(<Origin />));
  await act(async () => rerender(<Origin />));
  expect(screen.getByText('brought later')).toBeDefined();
  expect(new Set(rendered)).toEqual(new Set(['brought later']));
});
