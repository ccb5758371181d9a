import { vi } from 'vitest';

type Status = number | undefined;

/** Fake of `fetch` that answers for a remote's files, and records failure reports. */
export interface FakeFetch {
  reports: () => unknown[];
  /** Sets the status of the remote's entry. Undefined, the default, simulates a lost network. */
  entryAnswers: (status: Status) => void;
  /** Sets the status of all other files. */
  partAnswers: (status: Status) => void;
}

/** Replaces `fetch` until the test ends. */
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
