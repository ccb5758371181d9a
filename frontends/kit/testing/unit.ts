import { afterEach, vi } from 'vitest';

// What every unit test begins with. Testing Library cleans up after itself, and lets simulated time pass while it
// waits, only where it finds the globals of Jest: https://github.com/testing-library/react-testing-library/issues/1197
if (typeof document !== 'undefined') {
  const { cleanup } = await import('@testing-library/react');
  Object.assign(globalThis, { jest: { advanceTimersByTime: vi.advanceTimersByTime } });
  afterEach(() => {
    cleanup();
    vi.useRealTimers();
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
    sessionStorage.clear();
    localStorage.clear();
  });
}
