import type { Point } from './isometric.ts';
import { materials, Scene } from './isometric.ts';

/** What the picture shows of the world. */
export const VIEW_BOX = '-275 -100 550 440';

/** A shop with two shelves and a till. Whoever comes last looks suspicious. */
export function shop({ people }: { people: readonly Point[] }): Scene {
  const scene = new Scene(34);
  scene.slab(0, 0, 9, 9, { fill: 'var(--raised)', stroke: 'var(--line)' }, -50);
  scene.grid(9, 9);
  wall(
    scene,
    [
      [0, 0],
      [9, 0],
      [9, 0, 2.6],
      [0, 0, 2.6],
    ],
    'var(--face-r)',
  );
  wall(
    scene,
    [
      [0, 0],
      [0, 9],
      [0, 9, 2.6],
      [0, 0, 2.6],
    ],
    'var(--face-l)',
  );
  shelf(scene, 1.2);
  shelf(scene, 3.7);
  scene.box([6.6, 5.6], [0.9, 2.6, 0.8]);
  scene.box([6.75, 6.3, 0.8], [0.4, 0.5, 0.3], materials.glass);
  for (const [at, place] of people.entries()) {
    scene.person(place, at === people.length - 1 ? 'suspicious' : 'calm');
  }
  scene.camera([0.15, 0.15, 2.5], [4.6, 4.2]);
  return scene;
}

function wall(scene: Scene, corners: readonly Point[], fill: string) {
  scene.shape(corners, { fill, stroke: 'var(--stroke)' }, -45);
}

function shelf(scene: Scene, x: number) {
  scene.box([x, 1.1], [0.9, 5.4, 1.25]);
  for (let at = 0; at < 9; at += 1) {
    const y = 1.25 + at * 0.58;
    scene.box([x + 0.12, y, 1.25], [0.3, 0.36, 0.22 + 0.14 * (at % 3)], materials.ware);
    scene.box([x + 0.5, y, 1.25], [0.28, 0.36, 0.2 + 0.1 * ((at + 1) % 3)], materials.pale);
  }
}
