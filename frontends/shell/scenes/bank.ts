import type { Point } from '../../kit/drawing/isometric.ts';
import { materials, sceneColours } from '../../kit/drawing/materials.ts';
import { Scene } from '../../kit/drawing/scene.ts';

const places = {
  lens: [0.1, 6.9, 2],
  loitering: [5.6, 8.2, 0.5],
  skimming: [3.2, 1.9, 0.6],
  dualControl: [9.6, 1.6, 0.6],
  vehicle: [10.6, 6.6, 0.5],
  fallen: [3.4, 6, 0],
} as const satisfies Record<string, Point>;

/** In the order of the service's features. */
export const bankCloseUps: readonly Point[] = Object.values(places);

export function bankScene(): Scene {
  const scene = new Scene([12, 9, 2.8]);
  scene.room();
  scene.slab([9.2, 4.4], [2.8, 4.6], sceneColours.path);
  scene.sign([1.2, 0, 2.2], 'x', 'CASH');
  for (const x of [1, 2.6, 4.2]) {
    cashMachine(scene, x);
  }
  vault(scene);
  counter(scene);
  scene.box([8.95, 4.3], [0.14, 4.6, 1.5], {
    top: materials.plain.top,
    left: materials.glass.left,
    right: 'color-mix(in srgb,var(--stroke) 14%,transparent)',
  });
  scene.box([0.5, 4.2], [0.9, 2, 0.42], materials.low);
  scene.box([0.4, 8.1], [0.5, 0.5, 0.5], materials.low);
  scene.tree([0.65, 8.35, 0.5]);
  scene.onWall([0, 2, 0.9], [0, 1.4, 1], materials.low.top);
  scene.sign([0, 3.3, 1.3], 'y', 'RATES', 0.3);
  scene.person([3.2, 1.75], 'at the slot 48 s', 'alert');
  scene.walker([1.6, 2.6], { to: [1.6, 3.8], seconds: 9 });
  scene.person([5.6, 8.2], 'stays 6 min');
  scene.person([6.3, 2.4], 'staff 0.99');
  scene.person([9.2, 1.7]);
  scene.person([10, 1.7]);
  scene.detect([9.6, 1.7], { size: [72, 62], label: 'two keys 0.98' });
  scene.fallen([3.4, 5.8], 'fallen 0.97');
  scene.car([10.3, 6], 'y', materials.pale);
  scene.detect([10.75, 7], { size: [88, 72], label: 'backing up 0.95', severity: 'alert' });
  scene.camera([0.1, 6.9, 2.3]);
  scene.detect([0.1, 6.9, 2], { size: [40, 34], label: 'lens covered', severity: 'alert' });
  scene.camera([6.2, 0.1, 2.7], [4.6, 5.2]);
  return scene;
}

function cashMachine(scene: Scene, x: number) {
  const front = [
    scene.face([x + 0.2, 0.95, 1.05], [0.6, 0, 0], [0, 0, 0.45], sceneColours.lit),
    scene.face([x + 0.2, 0.95, 0.75], [0.6, 0, 0], [0, 0, 0.16], sceneColours.glass),
    scene.face([x + 0.25, 0.95, 0.4], [0.5, 0, 0], [0, 0, 0.1], sceneColours.screen),
  ];
  scene.box([x, 0.15], [1, 0.8, 1.8], materials.plain, front.join(''));
}

function vault(scene: Scene) {
  scene.onWall([8.7, 0, 0], [1.9, 0, 2.3], materials.low.left);
  scene.onWall([8.9, 0, 0.15], [1.5, 0, 2], sceneColours.glass);
  scene.onWall([9.55, 0, 0.95], [0.4, 0, 0.4], sceneColours.lit);
}

function counter(scene: Scene) {
  const desk = scene.face([5.6, 3.8, 0.15], [2.3, 0, 0], [0, 0, 0.7], materials.low.left);
  scene.box([5.4, 3.1], [2.7, 0.7, 1], materials.plain, desk);
  scene.box([5.7, 3.2, 1], [0.6, 0.12, 0.4], materials.dark);
  scene.box([7.1, 3.2, 1], [0.6, 0.12, 0.4], materials.dark);
}
