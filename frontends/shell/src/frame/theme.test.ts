// @vitest-environment happy-dom
import { beforeEach, expect, test, vi } from 'vitest';
import { chooseTheme } from './theme.ts';

/** The system's theme, and its change event. */
let system: EventTarget & { matches: boolean };

beforeEach(async () => {
  system = Object.assign(new EventTarget(), { matches: false });
  vi.stubGlobal('matchMedia', () => system);
  vi.resetModules();
  await vi.importActual('../theme-init.js');
});

function systemTurns(theme: 'light' | 'dark') {
  system.matches = theme === 'dark';
  system.dispatchEvent(new Event('change'));
}

function isDark() {
  return document.documentElement.classList.contains('dark');
}

test('without a choice the page follows the system', () => {
  systemTurns('dark');
  expect(isDark()).toBe(true);
  systemTurns('light');
  expect(isDark()).toBe(false);
});

test('a choice survives a change of the system', () => {
  chooseTheme('dark');
  systemTurns('dark');
  systemTurns('light');
  expect(isDark()).toBe(true);
});

test('without storage a choice survives until the page closes', () => {
  const forbidden = () => {
    throw new DOMException('Forbidden', 'SecurityError');
  };
  vi.stubGlobal('localStorage', { getItem: forbidden, setItem: forbidden });
  chooseTheme('dark');
  systemTurns('dark');
  systemTurns('light');
  expect(isDark()).toBe(true);
});
