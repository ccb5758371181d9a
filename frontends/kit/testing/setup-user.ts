import type { UserEvent } from '@testing-library/user-event';
import userEvent from '@testing-library/user-event';
import { vi } from 'vitest';

export function setupUser(): UserEvent {
  return userEvent.setup({ advanceTimers: vi.advanceTimersByTime });
}
