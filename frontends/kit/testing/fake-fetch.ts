import { vi } from 'vitest';

type Status = number | undefined;

/** Fake of `fetch` in a unit test of remotes: behind it are the files of a remote, and the reports of failures. */
export interface FakeFetch {
  /** Reports of failures that were sent, first to last. */
  reports: () => unknown[];
  /** From now on the remote's entry is answered with this status; without one the network is down, as at first. */
  entryAnswers: (status: Status) => void;
  /** So are its parts. */
  partAnswers: (status: Status) => void;
}

/** Stands in for `fetch` until the test is over. */
export function fakeFetch(): FakeFetch {
  const reports: unknown[] = [];
  const statuses: Record<'entry' | 'part', Status> = { entry: undefined, part: undefined };
  vi.stubGlobal('fetch', async (path: string, { method, body }: RequestInit) => {
    if (path === '/api/remote-failure' && method === 'POST') {
      reports.push(JSON.parse(String(body)));
      throw new TypeError('Nobody waits for the answer');
    }
    const status = path.endsWith('/remoteEntry.js') ? statuses.entry : statuses.part;
    if (method !== 'HEAD' || status === undefined) {
      throw new TypeError('Failed to fetch');
    }
    return new Response(null, { status });
  });
  return {
    reports: () => reports,
    entryAnswers: status => {
      statuses.entry = status;
    },
    partAnswers: status => {
      statuses.part = status;
    },
  };
}
