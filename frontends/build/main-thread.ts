/**
 * Main thread's work for the first view of a page, in milliseconds: of the clock on the wall, as the visitor waits, or of
 * the processor, which leaves out what else the machine did meanwhile.
 */
export interface MainThreadWork {
  /** The longest task. */
  longestTask: number;
  /** What tasks take beyond 50 ms each, after the first contentful paint (TBT). */
  blocking: number;
  /** Compiling, evaluating and running scripts. */
  script: number;
}

/** Trace event of Chromium, times in microseconds. */
export interface TraceEvent {
  name: string;
  /** Phase: `X` is an event with a duration. */
  ph: string;
  pid: number;
  tid: number;
  ts: number;
  dur?: number;
  /** Of `dur`, what the thread had the processor. */
  tdur?: number;
  /** What is used of it, of the events that tell of a request. */
  args?: { data?: { requestId?: string; resourceType?: string; encodedDataLength?: number } };
}

/** Duration by which the work is counted. */
export type Clock = 'dur' | 'tdur';

/** What tracing must record for it. */
export const TRACE_CATEGORIES = [
  'blink.user_timing',
  'devtools.timeline',
  'disabled-by-default-devtools.timeline',
  'loading',
  'v8',
];

const LONGEST_UNBLOCKING_TASK_US = 50_000;
/** A call is recorded twice: `FunctionCall` ends before what awaits its promises goes on, `v8.callFunction` after. */
const SCRIPT_EVENTS = [
  'EvaluateScript',
  'EvaluateModule',
  'FunctionCall',
  'RunMicrotasks',
  'v8.callFunction',
  'v8.compile',
  'v8.compileModule',
  'v8.run',
];

/** Reads from a trace of one page what its main thread did. */
export function mainThreadWork(trace: readonly TraceEvent[], clock: Clock): MainThreadWork {
  const paint = trace.findLast(({ name }) => name === 'firstContentfulPaint');
  const start = trace.findLast(
    ({ name, pid, ts }) =>
      name === 'navigationStart' && pid === paint?.pid && ts <= (paint?.ts ?? 0),
  );
  if (!(paint && start)) {
    throw new Error('The trace has no first contentful paint');
  }
  const mine = trace.filter(
    ({ ph, pid, tid, ts }) =>
      ph === 'X' && pid === paint.pid && tid === paint.tid && ts >= start.ts,
  );
  const tasks = outermost(mine.filter(({ name }) => name === 'RunTask'));
  const blocking = tasks
    .filter(task => endOf(task) > paint.ts)
    .map(task => Math.max(0, (task[clock] ?? 0) - LONGEST_UNBLOCKING_TASK_US));
  const script = outermost(mine.filter(({ name }) => SCRIPT_EVENTS.includes(name)));
  return {
    longestTask: Math.max(0, ...tasks.map(task => task[clock] ?? 0)) / 1000,
    blocking: sum(blocking) / 1000,
    script: sum(script.map(event => event[clock] ?? 0)) / 1000,
  };
}

/** Those that no other one of them contains. */
function outermost(events: readonly TraceEvent[]): TraceEvent[] {
  let end = 0;
  return events
    .toSorted((a, b) => a.ts - b.ts || endOf(b) - endOf(a))
    .filter(event => {
      const isOutermost = event.ts >= end;
      end = Math.max(end, endOf(event));
      return isOutermost;
    });
}

function endOf({ ts, dur = 0 }: TraceEvent): number {
  return ts + dur;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
