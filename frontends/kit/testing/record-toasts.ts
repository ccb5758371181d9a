import { onTestFinished } from 'vitest';
import type { Notice } from '../src/notice.ts';

/** Notices that front ends ask for, from now until the test is over. */
export function notices(): readonly Notice[] {
  const asked: Notice[] = [];
  const take = ({ detail }: CustomEvent<Notice>) => asked.push(detail);
  window.addEventListener('site:notice', take);
  onTestFinished(() => window.removeEventListener('site:notice', take));
  return asked;
}
