import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** A bad line between a browser and the site. */
export interface Line {
  /** The site's address at the near end. */
  site: string;
  /** From now on it holds. */
  mend: () => void;
  close: () => void;
}

/**
 * Lays a line to a site that breaks, with all its connections, whenever one of them has carried so many bytes towards
 * the site; until it is mended.
 */
export async function badLineTo(site: string, bytes: number): Promise<Line> {
  const { hostname, port } = new URL(site);
  const open = new Set<Socket>();
  let isBad = true;
  const server = createServer(near => {
    const far = connect(Number(port), hostname);
    let carried = 0;
    near.on('data', chunk => {
      carried += chunk.length;
      if (isBad && carried > bytes) {
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
    mend: () => {
      isBad = false;
    },
    close: () => server.close(),
  };
}
