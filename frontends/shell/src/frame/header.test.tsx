// @vitest-environment happy-dom
import { BrowserRouter } from '@site/kit/router.ts';
import { act, render, screen } from '@testing-library/react';
import { renderToString } from 'react-dom/server';
import { beforeEach, expect, test, vi } from 'vitest';
import { setupUser } from '../../../kit/testing/setup-user.ts';
import { Header } from './header.tsx';
import { ThemeSwitch } from './theme-switch.tsx';

beforeEach(() => {
  vi.useFakeTimers();
});

function show() {
  render(
    <BrowserRouter>
      <Header page="/" />
    </BrowserRouter>,
  );
}

function press(name: string) {
  return setupUser().click(screen.getByRole('button', { name }));
}

function pressed() {
  return screen.getByRole('button', { name: 'Dark theme' }).getAttribute('aria-pressed');
}

async function scrollTo(pixels: number) {
  await act(async () => {
    vi.stubGlobal('scrollY', pixels);
    window.dispatchEvent(new Event('scroll'));
  });
}

test('the switch changes the theme and stores the choice', async () => {
  render(<ThemeSwitch />);
  expect(pressed()).toBe('false');
  await press('Dark theme');
  await vi.waitFor(() => expect(pressed()).toBe('true'));
  expect(document.documentElement.classList.contains('dark')).toBe(true);
  expect(localStorage.getItem('theme')).toBe('dark');
  await press('Dark theme');
  await vi.waitFor(() => expect(pressed()).toBe('false'));
  expect(document.documentElement.classList.contains('dark')).toBe(false);
  expect(localStorage.getItem('theme')).toBe('light');
});

test('the switch follows any change of the theme', async () => {
  render(<ThemeSwitch />);
  document.documentElement.classList.add('dark');
  await vi.waitFor(() => expect(pressed()).toBe('true'));
});

test('without storage the choice holds for the page', async () => {
  const forbidden = () => {
    throw new DOMException('Forbidden', 'SecurityError');
  };
  vi.stubGlobal('localStorage', { setItem: forbidden });
  render(<ThemeSwitch />);
  await press('Dark theme');
  expect(document.documentElement.classList.contains('dark')).toBe(true);
});

test('the prerendered switch claims no theme', () => {
  document.documentElement.classList.add('dark');
  expect(renderToString(<ThemeSwitch />)).toContain('aria-pressed="false"');
});

test('the header is raised after 20 pixels of scrolling (section 9)', async () => {
  show();
  const header = screen.getByRole('banner');
  expect(header.dataset['scrolled']).toBe('false');
  await scrollTo(20);
  expect(header.dataset['scrolled']).toBe('false');
  await scrollTo(21);
  expect(header.dataset['scrolled']).toBe('true');
  await scrollTo(0);
  expect(header.dataset['scrolled']).toBe('false');
});
