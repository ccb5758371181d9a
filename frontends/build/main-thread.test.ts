import { expect, test } from 'vitest';
import type { TraceEvent } from './main-thread.ts';
import { mainThreadWork } from './main-thread.ts';

const PAGE = { pid: 1, tid: 1 };

/** An event of the page's main thread, in milliseconds. */
function event(name: string, start: number, duration: number, cpu = duration): TraceEvent {
  return { name, ph: 'X', ...PAGE, ts: start * 1000, dur: duration * 1000, tdur: cpu * 1000 };
}

function mark(name: string, at: number): TraceEvent {
  return { name, ph: 'R', ...PAGE, ts: at * 1000 };
}

const BEGIN = [mark('navigationStart', 100), mark('firstContentfulPaint', 300)];

test('only what a task takes beyond 50 ms after the first paint blocks', () => {
  const trace = [
    ...BEGIN,
    event('RunTask', 0, 90),
    event('RunTask', 150, 120),
    event('RunTask', 400, 80),
    event('RunTask', 500, 50),
  ];
  expect(mainThreadWork(trace, 'dur')).toEqual({ longestTask: 120, blocking: 30, script: 0 });
});

test('a task within a task, and a script within a script, count once', () => {
  const trace = [
    ...BEGIN,
    event('RunTask', 400, 80),
    event('RunTask', 401, 70),
    event('EvaluateScript', 405, 60),
    event('FunctionCall', 410, 20),
    event('RunMicrotasks', 470, 5),
  ];
  expect(mainThreadWork(trace, 'dur')).toEqual({ longestTask: 80, blocking: 30, script: 65 });
});

test('what awaits the promises of a call is a part of it', () => {
  const trace = [
    ...BEGIN,
    event('RunTask', 400, 60),
    event('v8.callFunction', 401, 50),
    event('FunctionCall', 401, 1),
  ];
  expect(mainThreadWork(trace, 'dur').script).toBe(50);
});

test('by the processor’s clock it does not count what else the machine did', () => {
  const trace = [...BEGIN, event('RunTask', 400, 200, 40), event('FunctionCall', 400, 190, 30)];
  expect(mainThreadWork(trace, 'tdur')).toEqual({ longestTask: 40, blocking: 0, script: 30 });
});

test('other threads, and pages before it, are not its own', () => {
  const trace = [
    mark('navigationStart', 0),
    event('RunTask', 10, 500),
    ...BEGIN,
    { ...event('RunTask', 400, 300), tid: 2 },
    { ...event('RunTask', 400, 300), pid: 2 },
    event('RunTask', 400, 10),
  ];
  expect(mainThreadWork(trace, 'dur').longestTask).toBe(10);
});

test('a page that painted nothing is no page to measure', () => {
  expect(() => mainThreadWork([mark('navigationStart', 100)], 'dur')).toThrow('first contentful');
});
