import { afterEach, beforeEach, expect, vi } from 'vitest';

const hasDom = typeof document !== 'undefined';
if (hasDom) {
  // Testing Library lets simulated time pass while it waits only where it finds Jest, and cleans up by itself only
  // where it finds global hooks: https://github.com/testing-library/react-testing-library/issues/1197
  Object.assign(globalThis, { jest: { advanceTimersByTime: vi.advanceTimersByTime } });
}

/** What the console complained of. A test that expects complaints takes them itself. */
const complaints: unknown[][] = [];

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation((...words) => {
    complaints.push(words);
  });
});

// Files share a worker, so no test leaves anything behind.
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  if (hasDom) {
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
