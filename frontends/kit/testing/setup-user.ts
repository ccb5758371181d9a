import type { UserEvent } from '@testing-library/user-event';
import userEvent from '@testing-library/user-event';
import { vi } from 'vitest';

/** A user of what is rendered, in simulated time. */
export function setupUser(): UserEvent {
  return userEvent.setup({ advanceTimers: vi.advanceTimersByTime });
}
