import { expect, test } from 'vitest';
import type { TraceEvent } from './main-thread.ts';
import { transferOf } from './transfer.ts';

type Data = NonNullable<NonNullable<TraceEvent['args']>['data']>;

function event(name: string, data: Data): TraceEvent {
  return { name, ph: 'I', pid: 1, tid: 1, ts: 0, args: { data } };
}

test('what came is counted as it came, and scripts by themselves', () => {
  const trace = [
    event('ResourceSendRequest', { requestId: '1', resourceType: 'Document' }),
    event('ResourceSendRequest', { requestId: '2', resourceType: 'Script' }),
    event('ResourceSendRequest', { requestId: '3', resourceType: 'Script' }),
    event('ResourceFinish', { requestId: '1', encodedDataLength: 1000 }),
    event('ResourceFinish', { requestId: '2', encodedDataLength: 300 }),
  ];
  expect(transferOf(trace)).toEqual({ scriptBytes: 300, bytes: 1300 });
});
