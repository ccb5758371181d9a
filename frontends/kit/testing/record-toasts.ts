import { onTestFinished } from 'vitest';
import type { Toast } from '../src/toast.ts';

/** Records toasts until the test ends. */
export function recordToasts(): readonly Toast[] {
  const asked: Toast[] = [];
  const take = ({ detail }: CustomEvent<Toast>) => asked.push(detail);
  window.addEventListener('site:notice', take);
  onTestFinished(() => window.removeEventListener('site:notice', take));
  return asked;
}
