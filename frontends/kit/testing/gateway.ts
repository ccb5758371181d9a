import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { ServerProcess } from './server-process.ts';
import { freePort, waitUntilReady } from './server-process.ts';

const GATEWAY = join(import.meta.dirname, '../../../target/debug/gateway');

/** Starts a gateway that serves a folder. It has no services behind it, unless flags name them. */
export async function gateway(
  folder: string,
  more: readonly string[] = [],
): Promise<ServerProcess> {
  const listen = `127.0.0.1:${await freePort()}`;
  const flags = [
    '--listen',
    listen,
    '--health-listen',
    '127.0.0.1:0',
    '--site-dir',
    folder,
    '--log',
    'error',
    ...more,
  ];
  const running = spawn(GATEWAY, flags, {
    stdio: ['ignore', 'ignore', 'inherit'],
    // A test that collects metrics need not wait for the default interval of a minute.
    env: { ...process.env, OTEL_METRIC_EXPORT_INTERVAL: '200' },
  });
  return waitUntilReady(running, `http://${listen}`, '/api/openapi.json', 5_000);
}
