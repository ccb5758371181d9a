import type { TraceEvent } from './main-thread.ts';

/** What came over the network, with headers. */
export interface Transfer {
  scriptBytes: number;
  bytes: number;
}

/** Reads from a trace of one page what it loaded. */
export function transferOf(trace: readonly TraceEvent[]): Transfer {
  const scripts = new Set(
    dataOf(trace, 'ResourceSendRequest')
      .filter(({ resourceType }) => resourceType === 'Script')
      .map(({ requestId }) => requestId),
  );
  const finished = dataOf(trace, 'ResourceFinish');
  const bytes = (of: typeof finished) =>
    of.reduce((total, { encodedDataLength = 0 }) => total + encodedDataLength, 0);
  return {
    scriptBytes: bytes(finished.filter(({ requestId }) => scripts.has(requestId))),
    bytes: bytes(finished),
  };
}

function dataOf(trace: readonly TraceEvent[], name: string) {
  return trace.filter(event => event.name === name).map(({ args }) => args?.data ?? {});
}
