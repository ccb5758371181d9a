import { afterEach, beforeEach, expect, vi } from 'vitest';

const hasDom = typeof document !== 'undefined';
if (hasDom) {
  // Testing Library advances fake timers only if it finds Jest:
  // https://github.com/testing-library/react-testing-library/issues/1197
  Object.assign(globalThis, { jest: { advanceTimersByTime: vi.advanceTimersByTime } });
}

/** Calls of `console.error`. A test that expects such a call mocks `console.error` itself. */
const complaints: unknown[][] = [];

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation((...words) => {
    complaints.push(words);
  });
});

// Files share a worker, so each test resets all state.
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  if (hasDom) {
    // Testing Library calls `cleanup` itself only if hooks are global.
    const { cleanup } = await import('@testing-library/react');
    cleanup();
    document.head.replaceChildren();
    document.body.replaceChildren();
    document.documentElement.className = '';
    document.documentElement.removeAttribute('data-theme');
    history.replaceState(null, '', '/');
    sessionStorage.clear();
    localStorage.clear();
  }
  expect(complaints.splice(0), 'the console stays silent').toEqual([]);
});
