import type { ChildProcess } from 'node:child_process';
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** Milliseconds between two questions. */
const ASK_AGAIN = 50;

/** A program that serves something for a test. */
export interface Program {
  /** Its address. */
  site: string;
  stop: () => void;
}

/** Waits until a program answers at an address; stops it where it does not. */
export async function answering(
  running: ChildProcess,
  site: string,
  path: string,
  milliseconds: number,
): Promise<Program> {
  const end = Date.now() + milliseconds;
  while (running.exitCode === null && Date.now() < end) {
    const answer = await fetch(site + path).catch(() => undefined);
    if (answer?.ok) {
      return { site, stop: () => running.kill() };
    }
    await setTimeout(ASK_AGAIN);
  }
  running.kill();
  throw new Error(`Nothing answers at ${site}${path}`);
}

/** A port that nothing listens on. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
