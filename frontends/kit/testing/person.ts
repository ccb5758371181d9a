import type { UserEvent } from '@testing-library/user-event';
import userEvent from '@testing-library/user-event';
import { vi } from 'vitest';

/** Somebody who uses what is rendered, in simulated time. */
export function person(): UserEvent {
  return userEvent.setup({ advanceTimers: vi.advanceTimersByTime });
}
