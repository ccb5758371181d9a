import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { root } from '../../build/file-paths.ts';

/** Content of the stack file, which a running stack writes. */
export interface RunningStack {
  site: string;
  /** Address of the gateway's health endpoints. */
  health: string;
  inbox: { web: string };
  services: Record<string, string>;
  pids: Record<string, number>;
}

/** A relative STACK_FILE is resolved against the checkout. */
export function stackFile(): string {
  return resolve(root, process.env['STACK_FILE'] ?? 'target/stack.json');
}

export function runningStack(): RunningStack {
  return JSON.parse(readFileSync(stackFile(), 'utf8'));
}
