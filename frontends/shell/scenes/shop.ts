import type { Point } from '../../kit/drawing/isometric.ts';
import { materials, sceneColours } from '../../kit/drawing/materials.ts';
import { Scene } from '../../kit/drawing/scene.ts';

/** The shop without people, for the film. */
export function shop(): Scene {
  const scene = new Scene([10, 9, 2.6]);
  furnish(scene);
  scene.sign([5.1, 0, 1.85], 'x', 'COLD DRINKS');
  scene.sign([0, 5.6, 1.9], 'y', 'BACK DOOR', 0.26);
  return scene;
}

function furnish(scene: Scene): void {
  scene.room();
  scene.onWall([0, 5.8, 0], [0, 1.3, 1.8], materials.low.top);
  scene.onWall([0, 6.43, 0], [0, 0.04, 1.8], sceneColours.line);
  fridge(scene, 4.9);
  shelf(scene, 1.4, 9);
  shelf(scene, 3.9, 5);
  pallet(scene, [0.3, 6.9]);
  till(scene, [6.6, 5.6]);
  scene.box([8.9, 7.6], [0.8, 0.12, 1.3], materials.pale);
  scene.box([8.9, 5.9], [0.8, 0.12, 1.3], materials.pale);
  scene.slab([8.95, 6.05], [0.75, 1.52], materials.low.top, sceneColours.grid);
  scene.camera([0.1, 0.1, 2.5], [5.2, 4.6]);
}

export function shopScene(): Scene {
  const scene = shop();
  scene.walker([2.2, 8], { to: [4.8, 7.6], seconds: 13 }, 'person 0.97');
  scene.person(places.concealment, 'concealing 0.91', 'alert');
  scene.person([8.05, 6.5], 'staff 0.99');
  for (const y of [5.9, 6.9, 7.9]) {
    scene.person([6.1, y]);
  }
  scene.detect([6.1, 7], { size: [92, 86], label: 'queue 3 · 40 s' });
  scene.walker([9.3, 1.4], { to: [7.4, 1.4], seconds: 11, sinceSeconds: 3 });
  scene.person([0.9, 8.3], 'delivery 0.96');
  scene.detect([4.35, 5.7, 1.2], { size: [62, 40], label: 'shelf gap 0.95' });
  return scene;
}

/** In the order of the service's features. */
const places = {
  concealment: [5.9, 3.2],
  sweeping: [4.4, 4.4, 1],
  till: [7.4, 6.6, 0.5],
  backDoor: [0.7, 7.6, 0.4],
  queue: [6.1, 6.4, 1],
  shelf: [4.4, 5.8, 1],
} as const satisfies Record<string, Point>;

export const shopCloseUps: readonly Point[] = Object.values(places);

function fridge(scene: Scene, x: number) {
  const size = [3.6, 0.7, 1.6] as const;
  const doors = [0, 1, 2, 3].map(at =>
    scene.face([x + 0.1 + at * 0.88, 0.8, 0.15], [0.76, 0, 0], [0, 0, 1.3], sceneColours.glass),
  );
  const wares = [0, 1, 2, 3].flatMap(at =>
    [0.3, 0.75].map(z =>
      scene.face(
        [x + 0.2 + at * 0.88, 0.8, z],
        [0.5, 0, 0],
        [0, 0, 0.22],
        (at + z * 4) % 2 < 1 ? materials.ware.left : materials.plain.top,
      ),
    ),
  );
  scene.box(
    [x, 0.1],
    size,
    materials.plain,
    `<g stroke-width=".7">${[...doors, ...wares].join('')}</g>`,
  );
}

/** Goods fill the first `filled` of nine places on top, and `filled + 1` of ten on each board. */
function shelf(scene: Scene, x: number, filled: number) {
  const boards = [0.35, 0.8].map(z =>
    scene.face([x + 0.9, 1.5, z], [0, 5.1, 0], [0, 0, 0.05], sceneColours.line),
  );
  const wares = [...Array(10).keys()].flatMap(at =>
    [0.4, 0.85].map(z =>
      at <= filled
        ? scene.face(
            [x + 0.9, 1.55 + at * 0.5, z],
            [0, 0.34, 0],
            [0, 0, 0.2 + 0.05 * ((at + z * 2) % 3)],
            (at + Math.round(z * 3)) % 3 ? materials.pale.right : materials.ware.right,
          )
        : '',
    ),
  );
  scene.box(
    [x, 1.4],
    [0.9, 5.3, 1.25],
    materials.plain,
    `<g stroke-width=".6">${[...boards, ...wares].join('')}</g>`,
  );
  for (let at = 0; at < filled; at += 1) {
    const y = 1.55 + at * 0.57;
    scene.box([x + 0.1, y, 1.25], [0.3, 0.36, 0.22 + 0.14 * (at % 3)], materials.ware);
    scene.box([x + 0.5, y, 1.25], [0.28, 0.36, 0.2 + 0.1 * ((at + 1) % 3)], materials.pale);
  }
}

function pallet(scene: Scene, [x, y]: Point) {
  scene.box([x, y], [1, 0.9, 0.12], materials.low);
  scene.box([x + 0.05, y + 0.05, 0.12], [0.45, 0.8, 0.5], materials.ware);
  scene.box([x + 0.52, y + 0.05, 0.12], [0.42, 0.8, 0.32], materials.pale);
}

function till(scene: Scene, [x, y]: Point) {
  const belt = scene.face([x + 0.15, y + 0.3, 0.8], [0.5, 0, 0], [0, 1.9, 0], sceneColours.glass);
  scene.box([x, y], [0.9, 2.6, 0.8], materials.plain, belt);
  scene.box([x + 0.35, y + 0.1, 0.8], [0.4, 0.3, 0.4], materials.dark);
  scene.box([x + 0.25, y + 1.1, 0.8], [0.22, 0.22, 0.24], materials.ware);
  scene.box([x + 0.25, y + 1.6, 0.8], [0.26, 0.2, 0.16], materials.pale);
}
