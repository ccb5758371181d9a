import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';

interface FaultyProxy {
  site: string;
  /** Stops resetting connections. */
  repair: () => void;
  close: () => void;
}

/**
 * Starts a proxy between a browser and a site. Until `repair`, it resets all connections whenever one has
 * sent more than `bytes` to the site.
 */
export async function faultyProxyTo(site: string, bytes: number): Promise<FaultyProxy> {
  const { hostname, port } = new URL(site);
  const open = new Set<Socket>();
  let isFaulty = true;
  const server = createServer(near => {
    const far = connect(Number(port), hostname);
    let carried = 0;
    near.on('data', chunk => {
      carried += chunk.length;
      if (isFaulty && carried > bytes) {
        for (const socket of open) {
          socket.resetAndDestroy();
        }
      }
    });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => open.delete(one));
      one.pipe(other);
    }
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const own = typeof address === 'object' && address ? address.port : 0;
  return {
    site: `http://localhost:${own}`,
    repair: () => {
      isFaulty = false;
    },
    close: () => server.close(),
  };
}
