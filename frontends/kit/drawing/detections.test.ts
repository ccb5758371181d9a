import { expect, test } from 'vitest';
import { Detections, STILL } from './detections.ts';
import { StyleRules } from './style-rules.ts';

interface Rect {
  left: number;
  top: number;
  width: number;
  height: number;
}

function detections(picture: readonly [number, number] = [400, 300]) {
  return new Detections(picture, 10, new StyleRules());
}

function found(box: Rect) {
  return { box, corner: 5, label: 'person 0.97', severity: 'seen' as const };
}

function labelsOf(drawn: Detections): Rect[] {
  const tags = drawn
    .toDrawing()
    .matchAll(/translate\(([\d.-]+) ([\d.-]+)\)"[^>]*><rect width="([\d.]+)" height="([\d.]+)"/g);
  return Array.from(tags, ([, ...numbers]) => {
    const [left = 0, top = 0, width = 0, height = 0] = numbers.map(Number);
    return { left, top, width, height };
  });
}

function overlap(a: Rect, b: Rect, [x, y]: readonly [number, number] = [0, 0]) {
  return (
    a.left + x < b.left + b.width &&
    b.left < a.left + x + a.width &&
    a.top + y < b.top + b.height &&
    b.top < a.top + y + a.height
  );
}

test('a label is above its box and overlaps no other', () => {
  const drawn = detections();
  const box = { left: 150, top: 120, width: 40, height: 60 };
  for (let at = 0; at < 4; at += 1) {
    drawn.add(found(box), STILL);
  }
  const [first, ...others] = labelsOf(drawn);
  expect(first?.top).toBeLessThan(box.top);
  expect(others).toHaveLength(3);
  for (const [at, label] of [first, ...others].entries()) {
    expect(others.slice(at).some(other => label && overlap(label, other))).toBe(false);
  }
});

test('a moving label overlaps no other on its way', () => {
  const drawn = detections();
  const by = [160, 0] as const;
  drawn.add(found({ left: 250, top: 100, width: 40, height: 60 }), STILL);
  drawn.add(found({ left: 90, top: 100, width: 40, height: 60 }), {
    attribute: ' class="walk"',
    by,
  });
  const [still, moving] = labelsOf(drawn);
  if (!(still && moving)) {
    throw new Error('Two labels were expected');
  }
  for (let part = 0; part <= 1; part += 0.05) {
    expect(overlap(moving, still, [by[0] * part, 0])).toBe(false);
  }
});

test('labels stay within the picture, even if they move', () => {
  const drawn = detections([200, 150]);
  drawn.add(found({ left: 2, top: 2, width: 40, height: 60 }), STILL);
  drawn.add(found({ left: 60, top: 90, width: 30, height: 50 }), { attribute: '', by: [60, -80] });
  for (const { left, top, width, height } of labelsOf(drawn)) {
    expect(Math.min(left, top)).toBeGreaterThanOrEqual(0);
    expect(left + width).toBeLessThanOrEqual(200);
    expect(top + height).toBeLessThanOrEqual(150);
  }
});
