import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { root } from './file-paths.ts';

/** What the file that a running stack writes says. */
export interface RunningStack {
  /** Address of the site. */
  site: string;
  inbox: { web: string };
  pids: Record<string, number>;
}

/** Where a running stack writes its addresses: STACK_FILE, from the checkout on where it is not absolute. */
export function stackFile(): string {
  return resolve(root, process.env['STACK_FILE'] ?? 'target/stack.json');
}

/** The running stack. */
export function runningStack(): RunningStack {
  return JSON.parse(readFileSync(stackFile(), 'utf8'));
}
