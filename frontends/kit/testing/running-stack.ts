import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { root } from '../../build/file-paths.ts';

/** Content of the stack file, which a running stack writes. */
export interface RunningStack {
  /** Address of the site. */
  site: string;
  /** Address at which the gateway answers for its health. */
  health: string;
  inbox: { web: string };
  /** Addresses of the services. */
  services: Record<string, string>;
  pids: Record<string, number>;
}

/** Path of the stack file: STACK_FILE, from the checkout on where it is not absolute. */
export function stackFile(): string {
  return resolve(root, process.env['STACK_FILE'] ?? 'target/stack.json');
}

/** The running stack. */
export function runningStack(): RunningStack {
  return JSON.parse(readFileSync(stackFile(), 'utf8'));
}
