import type { Point } from '../../kit/drawing/isometric.ts';
import { materials, sceneColours } from '../../kit/drawing/materials.ts';
import { Scene } from '../../kit/drawing/scene.ts';

const places = {
  wrongWay: [9.7, 6.9, 0.3],
  stopped: [5.2, 10.4, 0.3],
  onTheRoad: [7.2, 5.5, 0.5],
  queue: [2.4, 6.8, 1.3],
  greenWave: [5.2, 2.2, 0.3],
  nearMiss: [6.9, 9.3, 0.3],
} as const satisfies Record<string, Point>;

/** In the order of the service's features. */
export const junctionCloseUps: readonly Point[] = Object.values(places);

export function junctionScene(): Scene {
  const scene = new Scene([12, 12, 2.4]);
  scene.ground();
  scene.slab([0, 4.8], [12, 2.8], sceneColours.path);
  scene.slab([4.8, 0], [2.8, 12], sceneColours.path);
  markings(scene);
  block(scene, [0.8, 0.8], [3, 3, 2.2]);
  block(scene, [8.6, 0.9], [2.6, 2.8, 3.1]);
  block(scene, [9, 9], [2.4, 2.2, 1.2]);
  scene.box(
    [0.9, 8.8],
    [2.8, 2.2, 1.1],
    materials.plain,
    scene.windows([0.9, 8.8], [2.8, 2.2, 1.1]),
  );
  scene.roof([0.7, 8.6, 1.1], [3.2, 2.6, 0.8]);
  trees(scene);
  signals(scene);
  vehicles(scene);
  scene.post([4.4, 7.9], 2.2);
  scene.camera([4.4, 7.9, 2.3], [6.6, 6.6]);
  return scene;
}

function trees(scene: Scene) {
  for (const at of [
    [4.2, 0.6],
    [4.2, 2.6],
    [8.1, 3.9],
    [4.1, 10.9],
    [8.1, 10.6],
  ] as const) {
    scene.tree(at);
  }
}

function signals(scene: Scene) {
  for (const [x, y] of [
    [4.5, 4.5],
    [8.6, 7.9],
  ] as const) {
    scene.post([x, y], 1.5);
    scene.box([x - 0.1, y - 0.1, 1.4], [0.24, 0.24, 0.5], materials.dark);
  }
}

function vehicles(scene: Scene) {
  scene.car([9, 6.5], 'x', materials.warm);
  scene.detect([10, 7], { size: [92, 64], label: 'wrong way 0.94', severity: 'alert' });
  scene.car([4.95, 9.9], 'y');
  scene.detect([5.4, 10.8], { size: [84, 70], label: 'stopped 90 s', severity: 'alert' });
  for (const x of [0.2, 2.4]) {
    scene.car([x, 6.4], 'x', x === 0.2 ? materials.pale : materials.plain, x === 0.2 ? 0.6 : 0.3);
  }
  scene.detect([2.3, 6.85], { size: [150, 92], label: 'queue 38 m' });
  scene.driver([12, 5.1], { to: [-0.6, 5.1], seconds: 11, sinceSeconds: 2 });
  scene.driver(
    [5, -0.6],
    { to: [5, 6.8], seconds: 8, sinceSeconds: 3 },
    { label: 'ambulance 0.99', material: materials.ware, h: 0.5 },
  );
  scene.person([7.2, 5.5], 'on the road 0.98', 'alert');
  scene.walker([8, 4.3], { to: [8, 8.4], seconds: 12 });
  scene.person([6.8, 8.7]);
  scene.car([6.6, 9.1], 'y', materials.pale);
  scene.detect([6.9, 9.6], { size: [92, 84], label: 'near miss 0.4 m', severity: 'alert' });
}

function markings(scene: Scene) {
  for (let at = 0; at < 12; at += 1) {
    if (at < 4 || at > 7) {
      scene.slab([at + 0.25, 6.15], [0.5, 0.08], sceneColours.grid);
      scene.slab([6.15, at + 0.25], [0.08, 0.5], sceneColours.grid);
    }
  }
  for (let at = 0; at < 5; at += 1) {
    scene.slab([4.95 + at * 0.55, 3.95], [0.32, 0.7], materials.plain.top);
    scene.slab([4.95 + at * 0.55, 7.75], [0.32, 0.7], materials.plain.top);
    scene.slab([7.75, 4.95 + at * 0.55], [0.7, 0.32], materials.plain.top);
    scene.slab([3.95, 4.95 + at * 0.55], [0.7, 0.32], materials.plain.top);
  }
}

function block(scene: Scene, at: Point, size: readonly [number, number, number]) {
  scene.box(at, size, materials.plain, scene.windows(at, size));
  const [x, y] = at;
  scene.box([x + 0.4, y + 0.4, size[2]], [0.7, 0.6, 0.3], materials.low);
}
