import type { Point } from '../../kit/drawing/isometric.ts';
import { materials, sceneColours } from '../../kit/drawing/materials.ts';
import { Scene } from '../../kit/drawing/scene.ts';

const places = {
  tailgating: [3.5, 4, 0.5],
  visitors: [6, 1.9, 0.6],
  afterHours: [1.6, 2, 0.6],
  parcels: [9.2, 4.1, 0.3],
  parking: [10.4, 8.1, 0.9],
  perimeter: [6.6, 9.1, 0.4],
} as const satisfies Record<string, Point>;

/** In the order of the service's features. */
export const officeCloseUps: readonly Point[] = Object.values(places);

export function officeScene(): Scene {
  const scene = new Scene([12, 10, 2.4]);
  scene.ground();
  scene.slab([0, 0], [7.2, 7], materials.plain.top, sceneColours.grid);
  scene.onWall([0, 0, 0], [7.2, 0, 2.2], materials.plain.right);
  scene.onWall([0, 0, 0], [0, 7, 2.2], materials.plain.left);
  scene.sign([4.9, 0, 1.6], 'x', 'RECEPTION', 0.28);
  scene.onWall([1, 0, 0.8], [2.6, 0, 1], sceneColours.glass);
  scene.onWall([0, 3.2, 0.8], [0, 2.6, 1], sceneColours.glass);
  desks(scene);
  gates(scene);
  home(scene);
  scene.slab([9.6, 6.4], [2.4, 3.6], sceneColours.path);
  scene.sign([0, 2.4, 1.7], 'y', 'NO FIRE, NO SMOKE', 0.2);
  scene.car([9.9, 7.3], 'x');
  scene.detect([10.9, 7.9], { size: [96, 68], label: 'fire exit blocked' });
  scene.fence([0.4, 9.6], [9, 9.6], 0.7);
  scene.walker([2, 8.4], { to: [6.6, 8.4], seconds: 16 }, 'person 0.96');
  scene.box([7.4, 9], [0.45, 0.16, 0.2], materials.ware);
  scene.detect([7.6, 9.1], { size: [40, 32], label: 'cat 0.99' });
  scene.tree([8.2, 8.6]);
  scene.tree([0.8, 8.3]);
  scene.tree([11.5, 5.9]);
  scene.camera([0.1, 0.1, 2.2], [3.6, 4]);
  scene.camera([8.1, 4.6, 1.9], [9.2, 5.8]);
  return scene;
}

function desks(scene: Scene) {
  scene.box([5, 2.2], [1.9, 0.7, 0.9], materials.plain);
  scene.box([5.3, 2.3, 0.9], [0.5, 0.12, 0.36], materials.dark);
  scene.person([6, 1.7], 'visitor pass 0.98');
  for (const [x, y] of [
    [0.7, 1.2],
    [2.5, 1.2],
    [0.7, 2.9],
  ] as const) {
    scene.box([x, y], [1.3, 0.7, 0.6], materials.low);
    scene.box([x + 0.3, y + 0.12, 0.6], [0.6, 0.1, 0.4], materials.dark);
  }
  scene.person([2, 2.4], 'after hours 0.97', 'alert');
}

function gates(scene: Scene) {
  for (const x of [1.4, 2.9, 4.4, 5.9]) {
    scene.box([x, 4.3], [0.3, 1.5, 0.85], materials.pale);
    scene.box([x + 0.05, 5.4, 0.85], [0.2, 0.25, 0.2], materials.dark);
  }
  scene.person([3.8, 4.1]);
  scene.person([3.8, 5.1], '', 'alert');
  scene.detect([3.8, 4.9], { size: [66, 66], label: 'tailgating 0.95', severity: 'alert' });
  scene.person([5.3, 6.4], 'badge 0.99');
}

function home(scene: Scene) {
  const at = [8.4, 0.8] as const;
  const size = [2.8, 3, 1.6] as const;
  const door = scene.face([9, 3.8, 0], [0.6, 0, 0], [0, 0, 1.2], materials.low.left);
  const window = scene.face([10, 3.8, 0.5], [0.8, 0, 0], [0, 0, 0.7], sceneColours.lit);
  const side = [1.3, 2.6].map(y =>
    scene.face([11.2, y, 0.5], [0, 0.7, 0], [0, 0, 0.7], sceneColours.glass),
  );
  scene.slab([9, 3.8], [0.6, 2.6], materials.low.top);
  scene.box(at, size, materials.plain, door + window + side.join(''));
  scene.roof([8.2, 0.6, 1.6], [3.2, 3.4, 1.2]);
  scene.box([9.7, 3.95], [0.4, 0.35, 0.3], materials.ware);
  scene.detect([9.9, 4.1], { size: [44, 40], label: 'parcel 0.97' });
  scene.walker([9.3, 6], { to: [9.3, 5], seconds: 6 });
}
