import { expect, test } from 'vitest';
import { detectionOf } from './actors.ts';
import { actors, clockAt, findings, LENGTH_SECONDS, minutes, noticedUntil } from './evening.ts';
import type { Look } from './sightings.ts';
import { allLooks, sightingsAt } from './sightings.ts';

const TIMES = Array.from({ length: LENGTH_SECONDS * 100 + 1 }, (_, at) => at / 100);

function labelsAt(seconds: number): string[] {
  return sightingsAt(seconds).flatMap(({ label }) => (label ? [label] : []));
}

/** Empty if the look does not show at this time. */
function movedTo({ way, box, label, severity, parts }: Look, seconds: number) {
  const next = way.findIndex(({ atSeconds }) => atSeconds > seconds);
  const [from, to] =
    next === -1 && way.at(-1)?.atSeconds === seconds && seconds === LENGTH_SECONDS
      ? [way.at(-1), way.at(-1)]
      : [way[next - 1], way[next]];
  if (!(from && to)) {
    return [];
  }
  const part = (seconds - from.atSeconds) / (to.atSeconds - from.atSeconds || 1);
  const between = (name: 'x' | 'y' | 'opacity') => from[name] + (to[name] - from[name]) * part;
  const opacity = between('opacity');
  const place = { left: box.left + between('x'), top: box.top + between('y') };
  // Sightings round opacity to tenths.
  return opacity >= 0.05 ? [{ ...place, opacity, label, severity, parts }] : [];
}

test('the clock runs forward through one evening', () => {
  const times = TIMES.map(clockAt);
  expect(times).toEqual(times.toSorted());
  expect([times[0], times.at(-1)]).toEqual(['21:02', '21:34']);
});

test('each minute begins when the clock changes', () => {
  const shown = minutes.map(clockAt);
  expect(shown).toEqual([...new Set(TIMES.map(clockAt))]);
  const before = minutes.slice(1).map(seconds => clockAt(seconds - 0.001));
  expect(before).toEqual(shown.slice(0, -1));
});

test('playback matches the still drawing at every time', () => {
  const looks = allLooks();
  for (const seconds of TIMES) {
    const moved = looks.flatMap(look => movedTo(look, seconds));
    const sightings = sightingsAt(seconds);
    expect(
      moved.map(({ label, severity, parts }) => ({ label, severity, parts })),
      `${seconds}`,
    ).toEqual(sightings.map(({ label, severity, parts }) => ({ label, severity, parts })));
    for (const [at, { left, top, opacity }] of moved.entries()) {
      const sighting = sightings[at];
      expect(Math.abs(left - (sighting?.box.left ?? 0))).toBeLessThan(0.5);
      expect(Math.abs(top - (sighting?.box.top ?? 0))).toBeLessThan(0.5);
      expect(Math.abs(opacity - (sighting?.opacity ?? 0))).toBeLessThan(0.06);
    }
  }
});

test('each finding shows in the picture at its time', () => {
  for (const { atSeconds, severity } of findings) {
    const severitiesAt = (seconds: number) =>
      sightingsAt(seconds).flatMap(sighting => (sighting.label ? [sighting.severity] : []));
    const count = (all: readonly string[]) => all.filter(each => each === severity).length;
    expect(count(severitiesAt(atSeconds))).toBeGreaterThan(count(severitiesAt(atSeconds - 0.05)));
  }
  expect(noticedUntil(0)).toEqual([]);
  expect(noticedUntil(LENGTH_SECONDS)).toEqual(findings);
});

test('every alarm of the picture is in the list', () => {
  const alarms = actors.flatMap(({ alarm }) => (alarm ? [alarm.fromSeconds] : []));
  const alerts = findings.filter(({ severity }) => severity === 'alert');
  expect(alarms.toSorted()).toEqual(alerts.map(({ atSeconds }) => atSeconds));
});

test('actors move in small steps and fade in and out', () => {
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

test('the last frame shows the alerts and the staff', () => {
  expect(labelsAt(LENGTH_SECONDS)).toEqual(['unattended 0.91', 'staff 0.99', 'same van 0.95']);
  expect(labelsAt(0)).toEqual([]);
});

test('an alarm replaces the label before it', () => {
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
