import { act } from '@testing-library/react';
import { vi } from 'vitest';

/** Advances fake timers, and lets React render the result. */
export async function advanceTimers(milliseconds: number): Promise<void> {
  await act(() => vi.advanceTimersByTimeAsync(milliseconds));
}
