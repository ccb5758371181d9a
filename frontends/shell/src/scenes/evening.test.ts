import { expect, test } from 'vitest';
import { detectionOf } from './actors.ts';
import { actors, clockAt, findings, LENGTH_SECONDS, noticedUntil } from './evening.ts';
import { sightingsAt } from './sightings.ts';

/** Times of the recording, a hundredth of a second apart. */
const TIMES = Array.from({ length: LENGTH_SECONDS * 100 + 1 }, (_, at) => at / 100);

function labelsAt(seconds: number): string[] {
  return sightingsAt(seconds).flatMap(({ label }) => (label ? [label] : []));
}

test('the clock never goes back, and begins and ends in one evening', () => {
  const times = TIMES.map(clockAt);
  expect(times).toEqual(times.toSorted());
  expect([times[0], times.at(-1)]).toEqual(['21:02', '21:34']);
});

test('whatever is noticed is to be seen when it is noticed, and not before', () => {
  for (const { atSeconds, severity } of findings) {
    const severitiesAt = (seconds: number) =>
      sightingsAt(seconds).flatMap(sighting => (sighting.label ? [sighting.severity] : []));
    const count = (all: readonly string[]) => all.filter(each => each === severity).length;
    expect(count(severitiesAt(atSeconds))).toBeGreaterThan(count(severitiesAt(atSeconds - 0.05)));
  }
  expect(noticedUntil(0)).toEqual([]);
  expect(noticedUntil(LENGTH_SECONDS)).toEqual(findings);
});

test('every alarm of the picture is in the list, at the same moment', () => {
  const alarms = actors.flatMap(({ alarm }) => (alarm ? [alarm.fromSeconds] : []));
  const alerts = findings.filter(({ severity }) => severity === 'alert');
  expect(alarms.toSorted()).toEqual(alerts.map(({ atSeconds }) => atSeconds));
});

test('nobody jumps: whoever is there moves by little, comes and goes softly', () => {
  for (const [at, seconds] of TIMES.entries()) {
    const before = new Map(sightingsAt(TIMES[at - 1] ?? 0).map(each => [each.key, each]));
    for (const { key, box, opacity } of sightingsAt(seconds)) {
      const was = before.get(key);
      expect(Math.abs(box.left - (was?.box.left ?? box.left)), `${seconds}`).toBeLessThan(8);
      if (seconds > 0) {
        expect(Math.abs(opacity - (was?.opacity ?? 0)), `${seconds}`).toBeLessThan(0.21);
      }
    }
  }
});

test('the picture at the end says what there is to do', () => {
  expect(labelsAt(LENGTH_SECONDS)).toEqual(['unattended 0.91', 'staff 0.99', 'same van 0.95']);
  expect(labelsAt(0)).toEqual([]);
});

test('an alarm takes the place of what was said before', () => {
  const path = [{ atSeconds: 0, x: 0, y: 0 }];
  const actor = {
    label: 'person',
    foundAtSeconds: 1,
    alarm: { fromSeconds: 2, label: 'running' },
    path,
  };
  expect(detectionOf(actor, 0.5)).toEqual({ label: '', severity: 'seen' });
  expect(detectionOf(actor, 1)).toEqual({ label: 'person', severity: 'seen' });
  expect(detectionOf(actor, 2)).toEqual({ label: 'running', severity: 'alert' });
});
