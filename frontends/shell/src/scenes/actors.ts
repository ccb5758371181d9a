import type { Severity } from '@site/kit/drawing/detections.ts';

interface Step {
  atSeconds: number;
  x: number;
  y: number;
}

export interface Actor {
  label: string;
  /** From `fromSeconds`, the alarm's label replaces the actor's label. */
  alarm?: { fromSeconds: number; label: string };
  foundAtSeconds: number;
  path: readonly Step[];
}

/** Movement is linear between steps. */
export function placeOf({ path }: Actor, seconds: number): [x: number, y: number] {
  const next = path.findIndex(step => step.atSeconds > seconds);
  const after = path[next === -1 ? path.length - 1 : next];
  const before = path[next === -1 ? path.length - 1 : Math.max(next - 1, 0)];
  if (!(after && before)) {
    throw new Error('An actor has no path');
  }
  const fraction =
    after.atSeconds === before.atSeconds
      ? 0
      : (seconds - before.atSeconds) / (after.atSeconds - before.atSeconds);
  return [before.x + (after.x - before.x) * fraction, before.y + (after.y - before.y) * fraction];
}

/** The label is empty before detection. */
export function detectionOf(
  { label, alarm, foundAtSeconds }: Actor,
  seconds: number,
): { label: string; severity: Severity } {
  if (alarm && seconds >= alarm.fromSeconds) {
    return { label: alarm.label, severity: 'alert' };
  }
  return { label: seconds >= foundAtSeconds ? label : '', severity: 'seen' };
}
