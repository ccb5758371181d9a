import { afterEach, vi } from 'vitest';

// What every unit test ends with.
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

if (typeof document !== 'undefined') {
  // Testing Library lets simulated time pass while it waits only where it finds Jest, and cleans up by itself only
  // where it finds global hooks: https://github.com/testing-library/react-testing-library/issues/1197
  Object.assign(globalThis, { jest: { advanceTimersByTime: vi.advanceTimersByTime } });
  const { cleanup } = await import('@testing-library/react');
  afterEach(() => {
    cleanup();
    sessionStorage.clear();
    localStorage.clear();
  });
}
