import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerProcess } from './server-process.ts';
import { freePort, waitUntilReady } from './server-process.ts';

const root = join(import.meta.dirname, '../../..');

/** Starts a remote's development server, with the API of the running stack if there is one. */
export async function startDevServer(remote: string, stackFile: string): Promise<ServerProcess> {
  const port = await freePort();
  const program = join(root, 'frontends/build/dev.ts');
  const env = existsSync(stackFile)
    ? { SITE: JSON.parse(readFileSync(stackFile, 'utf8')).site }
    : {};
  const running = spawn(process.execPath, [program, remote, String(port)], {
    cwd: join(root, 'frontends', remote),
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...env },
  });
  return waitUntilReady(running, `http://localhost:${port}`, '/', 30_000);
}
