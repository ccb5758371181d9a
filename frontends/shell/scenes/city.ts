import type { Point } from '../../kit/drawing/isometric.ts';
import { materials, sceneColours } from '../../kit/drawing/materials.ts';
import { Scene } from '../../kit/drawing/scene.ts';

const places = {
  crowd: [6.1, 5.2, 0.4],
  unattended: [8.4, 7.4, 0.2],
  perimeter: [1.9, 9.7, 0.6],
  services: [9.7, 10.3, 0.5],
  masks: [2.5, 4.1, 1.3],
  jointView: [9.8, 3.7, 0.7],
} as const satisfies Record<string, Point>;

/** In the order of the service's features. */
export const cityCloseUps: readonly Point[] = Object.values(places);

export function cityScene(): Scene {
  const scene = new Scene([12, 12, 3.4]);
  scene.ground();
  scene.slab([0, 6.2], [4.2, 1.2], sceneColours.path);
  scene.slab([10.7, 0], [1.3, 12], sceneColours.path);
  scene.slab([4.2, 4.2], [6, 4.6], materials.plain.top, sceneColours.grid);
  homes(scene);
  tower(scene, [4.6, 0.5], [2, 2.2, 4.6]);
  tower(scene, [7, 0.5], [1.8, 1.9, 3.2]);
  tower(scene, [9, 0.7], [1.3, 1.3, 2]);
  controlRoom(scene);
  substation(scene);
  for (const [x, y] of [
    [9.7, 5.4],
    [4.7, 8.2],
    [5.6, 10.6],
    [7, 11.2],
    [4.9, 9.6],
  ] as const) {
    scene.tree([x, y]);
  }
  for (const [x, y] of [
    [4.4, 6.6],
    [10.3, 8.6],
  ] as const) {
    scene.post([x, y], 1.9);
    scene.box([x - 0.1, y - 0.1, 1.8], [0.5, 0.2, 0.1], materials.dark);
  }
  crowd(scene);
  scene.box([8.2, 7.3], [0.4, 0.3, 0.35], materials.ware);
  scene.detect([8.4, 7.5], { size: [46, 40], label: 'left bag 4 min', severity: 'alert' });
  scene.box([7.4, 8], [1.6, 0.4, 0.3], materials.low);
  scene.box([9.5, 10.1], [0.5, 0.5, 0.8], materials.pale);
  scene.box([9.6, 10.2, 0.8], [0.3, 0.3, 0.2], materials.ware);
  scene.detect([9.75, 10.4], { size: [50, 56], label: 'bin full 0.97' });
  scene.walker([9.1, 8.6], { to: [6, 8.6], seconds: 15 });
  scene.driver([10.9, -1], { to: [10.9, 11.4], seconds: 12, sinceSeconds: 7 });
  scene.post([4.4, 5.2], 2.4);
  scene.camera([4.4, 5.2, 2.5], [7, 6.6]);
  return scene;
}

function homes(scene: Scene) {
  for (const [x, y, h] of [
    [0.5, 0.6, 2.6],
    [0.5, 3.2, 1.9],
  ] as const) {
    const size = [2.6, 2, h] as const;
    scene.box([x, y], size, materials.plain, scene.windows([x, y], size, 7));
  }
  const masked = [0, 1, 2].map(at =>
    scene.face(
      [3.1, 3.4 + at * 0.55, 0.4],
      [0, 0.42, 0],
      [0, 0, 1.2],
      sceneColours.screen,
      ' stroke-width="1.4"',
    ),
  );
  scene.box([3.1, 3.3], [0.02, 1.8, 1.7], materials.plain, masked.join(''));
  scene.detect([3.1, 4.2, 0.4], { size: [72, 72], label: 'masked' });
}

function tower(scene: Scene, at: Point, size: readonly [number, number, number]) {
  scene.box(at, size, materials.plain, scene.windows(at, size, 4));
  scene.box([at[0] + 0.4, at[1] + 0.4, size[2]], [0.6, 0.5, 0.3], materials.low);
}

function controlRoom(scene: Scene) {
  const screens = [0, 1, 2].map(at =>
    scene.face(
      [9 + at * 0.42, 4, 0.45],
      [0.32, 0, 0],
      [0, 0, 0.3],
      at === 1 ? sceneColours.lit : sceneColours.screen,
    ),
  );
  scene.box([8.9, 2.8], [1.4, 1.2, 1.1], materials.plain, screens.join(''));
  scene.detect([9.6, 3.9], { size: [86, 68], label: 'control room' });
}

function substation(scene: Scene) {
  scene.slab([0.5, 8.4], [3, 2.8], sceneColours.path, sceneColours.grid);
  for (const [x, y] of [
    [0.8, 8.8],
    [0.8, 10],
    [2.1, 8.8],
  ] as const) {
    scene.box([x, y], [0.8, 0.8, 0.8], materials.pale);
    scene.box([x + 0.3, y + 0.3, 0.8], [0.2, 0.2, 0.5], materials.dark);
  }
  scene.fence([0.5, 11.2], [3.5, 11.2]);
  scene.fence([3.5, 8.4], [3.5, 11.2]);
  scene.person([2.6, 10.4], 'intruder 0.97', 'alert');
  scene.box([3.9, 11.3], [0.4, 0.16, 0.18], materials.ware);
  scene.detect([4.1, 11.4], { size: [36, 30], label: 'fox 0.99' });
}

function crowd(scene: Scene) {
  const people = [
    [5.5, 4.7],
    [6, 5.3],
    [6.5, 4.8],
    [5.4, 5.7],
    [6.8, 5.6],
    [6.1, 6],
    [7.2, 5.1],
    [5.9, 4.5],
    [6.6, 6.2],
  ] as const;
  for (const at of people) {
    scene.person(at);
  }
  scene.detect([6.2, 5.9], { size: [112, 82], label: 'crowd 2.1 per m²' });
}
