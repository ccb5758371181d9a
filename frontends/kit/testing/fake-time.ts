import { act } from '@testing-library/react';
import { vi } from 'vitest';

/** Lets simulated time pass, in milliseconds, and React show what came of it. */
export async function advanceTimers(milliseconds: number): Promise<void> {
  await act(() => vi.advanceTimersByTimeAsync(milliseconds));
}
