import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';

const PROGRAM = join(import.meta.dirname, '../../../target/debug/gateway');

/** A gateway of a test's own, which serves a folder and has no services behind it. */
export interface Gateway {
  /** Its address. */
  site: string;
  stop: () => void;
}

/** Starts it on a free port and waits until it answers. */
export async function gateway(folder: string): Promise<Gateway> {
  const listen = `127.0.0.1:${await freePort()}`;
  const running = spawn(PROGRAM, ['--listen', listen, '--site-dir', folder, '--log', 'error'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const site = `http://${listen}`;
  for (const end = Date.now() + 5_000; ; ) {
    const answer = await fetch(`${site}/livez`).catch(() => undefined);
    if (answer?.ok) {
      return { site, stop: () => running.kill() };
    }
    if (running.exitCode !== null || Date.now() > end) {
      running.kill();
      throw new Error('The gateway does not answer');
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
