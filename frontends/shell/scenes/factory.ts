import type { Point } from '../../kit/drawing/isometric.ts';
import { materials, sceneColours } from '../../kit/drawing/materials.ts';
import { Scene } from '../../kit/drawing/scene.ts';

const places = {
  gear: [8.8, 2.6, 0.6],
  zone: [3.9, 6.5, 0.6],
  forklift: [9.2, 6.9, 0.5],
  smoke: [1.4, 1.5, 2.2],
  lift: [6.4, 8.2, 0.4],
  line: [5.2, 3.6, 0.7],
} as const satisfies Record<string, Point>;

/** In the order of the service's features. */
export const factoryCloseUps: readonly Point[] = Object.values(places);

export function factoryScene(): Scene {
  const scene = new Scene([12, 9.5, 2.9]);
  scene.room();
  scene.sign([7.6, 0, 2.05], 'x', 'HALL 2');
  scene.sign([0, 8.6, 1.7], 'y', 'DAYS WITHOUT ACCIDENT 214', 0.24);
  for (const x of [3.2, 5.1]) {
    scene.onWall([x, 0, 1.3], [1.5, 0, 1.1], sceneColours.glass);
  }
  scene.onWall([9.6, 0, 0], [1.6, 0, 1.8], materials.low.top);
  scene.slab([8.2, 0], [2, 9.5], sceneColours.path);
  scene.trail(
    [
      [9.2, 9.3],
      [9.2, 0.4],
    ],
    sceneColours.line,
  );
  tank(scene);
  belt(scene);
  press(scene);
  arm(scene, [6.6, 2]);
  forklift(scene, [8.75, 6.2]);
  for (const [x, y, z] of [
    [10.6, 7.2, 0],
    [10.6, 8.1, 0],
    [10.6, 7.2, 0.6],
    [10.6, 5.4, 0],
  ] as const) {
    scene.box([x, y, z], [0.8, 0.8, 0.6], z ? materials.pale : materials.ware);
  }
  scene.person([8.8, 2.5], 'no helmet 0.96', 'alert');
  scene.person([3.6, 6.8], 'in the zone 0.99', 'alert');
  scene.walker([1.2, 8.8], { to: [4.6, 8.8], seconds: 14 }, 'helmet 0.98');
  scene.person([6.2, 8.2]);
  scene.box([6.5, 8.1, 0.35], [0.45, 0.45, 0.4], materials.ware);
  scene.detect([6.45, 8.3], { size: [56, 54], label: 'lift 31 kg' });
  scene.person([11.2, 3]);
  scene.camera([0.1, 0.1, 2.8], [5, 5]);
  scene.camera([11.9, 0.1, 2.4], [9.4, 4.4]);
  return scene;
}

function tank(scene: Scene) {
  const bands = [0.5, 1.1].map(z =>
    scene.face([0.6, 2, z], [1.4, 0, 0], [0, 0, 0.08], sceneColours.line),
  );
  scene.box([0.6, 0.7], [1.4, 1.3, 1.7], materials.pale, bands.join(''));
  scene.box([0.95, 1, 1.7], [0.5, 0.5, 0.3], materials.plain);
  scene.box([2, 1.2, 0.5], [1.2, 0.2, 0.2], materials.plain);
  scene.detect([1.5, 1.3, 1.7], { size: [60, 48], label: 'vapour 0.93', severity: 'alert' });
  scene.slab([2.1, 1.9], [0.8, 0.5], sceneColours.glass);
}

function belt(scene: Scene) {
  const rollers = [...Array(11).keys()].map(at =>
    scene.face([2.5 + at * 0.5, 3.3, 0.6], [0.2, 0, 0], [0, 0.8, 0], sceneColours.glass),
  );
  scene.box(
    [2.3, 3.2],
    [5.6, 1, 0.6],
    materials.low,
    `<g stroke-width=".5">${rollers.join('')}</g>`,
  );
  for (const sinceSeconds of [0, 4, 8]) {
    const way = { to: [7.2, 3.4, 0.6] as const, seconds: 12, sinceSeconds };
    scene.travelling(
      [2.5, 3.4, 0.6],
      [0.5, 0.5, 0.4],
      way,
      sinceSeconds === 4 ? materials.pale : materials.ware,
    );
  }
  scene.detect([5.2, 3.8, 0.6], { size: [60, 48], label: 'line 42 per min' });
}

function press(scene: Scene) {
  scene.zone([2.2, 5.3], [2.4, 2.3], 'alert');
  const opening = scene.face([2.7, 6.6, 0.5], [1, 0, 0], [0, 0, 0.7], sceneColours.screen);
  const lamp = scene.face([3.9, 5.8, 1.4], [0, 0.3, 0], [0, 0, 0.2], sceneColours.lit);
  scene.box([2.5, 5.6], [1.4, 1, 1.9], materials.plain, opening + lamp);
  scene.box([2.8, 5.9, 1.9], [0.8, 0.5, 0.4], materials.pale);
}

function arm(scene: Scene, [x, y]: Point) {
  scene.box([x, y], [0.7, 0.7, 0.3], materials.dark);
  scene.box([x + 0.2, y + 0.2, 0.3], [0.3, 0.3, 1.1], materials.ware);
  scene.box([x + 0.2, y + 0.2, 1.4], [0.3, 1.3, 0.25], materials.ware);
  scene.box([x + 0.25, y + 1.35, 1.05], [0.2, 0.14, 0.35], materials.dark);
}

function forklift(scene: Scene, [x, y]: Point) {
  scene.box([x, y], [0.9, 1.1, 0.45], materials.ware);
  scene.box([x + 0.1, y + 0.5, 0.45], [0.7, 0.5, 0.55], materials.glass);
  scene.box([x + 0.1, y + 1.15], [0.7, 0.06, 1.3], materials.dark);
  scene.box([x + 0.1, y + 1.25, 0.1], [0.7, 0.6, 0.5], materials.pale);
  scene.detect([x + 0.45, y + 0.9], { size: [86, 70], label: 'forklift 6 km/h' });
}
