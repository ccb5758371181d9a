// @vitest-environment happy-dom
import { render } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { pass } from '../testing/fake-time.ts';
import { Notices, notify } from './notices.tsx';

const load = vi.hoisted(() => vi.fn(() => Promise.reject(new Error('Loading chunk failed.'))));
vi.mock('sonner', load);

test('where the code of notices does not come, nothing fails: what they say stands in the page as well', async () => {
  vi.useFakeTimers();
  const uncaught = vi.fn();
  process.on('unhandledRejection', uncaught);
  const { container } = render(<Notices />);
  notify({ kind: 'success', title: 'Application Submitted!', text: 'Thank you.' });
  await pass(60_000);
  process.off('unhandledRejection', uncaught);
  expect(load).toHaveBeenCalled();
  expect(container.textContent).toBe('');
  expect(uncaught).not.toHaveBeenCalled();
});
