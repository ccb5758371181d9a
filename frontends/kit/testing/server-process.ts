import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';

const POLL_INTERVAL_MS = 50;
const FIRST_PORT = 10_240;
const END_OF_PORTS = 32_768;
const ATTEMPTS = 100;

export interface ServerProcess {
  site: string;
  stop: () => void;
}

/** Waits until a server answers. Stops its process after the timeout. */
export async function waitUntilReady(
  running: ChildProcess,
  site: string,
  path: string,
  timeoutMs: number,
): Promise<ServerProcess> {
  const end = Date.now() + timeoutMs;
  while (running.exitCode === null && Date.now() < end) {
    const answer = await fetch(site + path).catch(() => undefined);
    if (answer?.ok) {
      return { site, stop: () => running.kill() };
    }
    await setTimeout(POLL_INTERVAL_MS);
  }
  running.kill();
  throw new Error(`Nothing answers at ${site}${path}`);
}

/**
 * A free port that no Rust test has reserved (`tools/testkit/src/ports.rs`). It is below the range of
 * outgoing connections, which could take a port before the program listens.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const port = randomInt(FIRST_PORT, END_OF_PORTS);
    try {
      const server = createServer().listen(port, '0.0.0.0');
      await once(server, 'listening');
      await once(server.close(), 'close');
      return port;
    } catch (failure) {
      if (attempt === ATTEMPTS) {
        throw failure;
      }
    }
  }
}
