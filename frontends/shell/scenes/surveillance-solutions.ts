import { materials, sceneColours } from '../../kit/drawing/materials.ts';
import type { Scene } from '../../kit/drawing/scene.ts';
import { vignette } from './solution-props.ts';

function threatDetection(): Scene {
  const scene = vignette([6, 5, 2]);
  scene.ground();
  scene.slab([0, 3.6], [6, 1.4], sceneColours.path);
  const shed = [0.4, 0.4, 0] as const;
  scene.box(shed, [2.4, 1.5, 1.5], materials.plain, shutter(scene));
  for (const [x, y, z] of [
    [3.4, 0.6, 0],
    [4.2, 0.6, 0],
    [3.7, 0.6, 0.6],
  ] as const) {
    scene.box([x, y, z], [0.7, 0.7, 0.6], z ? materials.pale : materials.ware);
  }
  scene.fence([0.2, 3.4], [5.8, 3.4], 1.1);
  scene.person([3.2, 2.9], 'intruder 0.97', 'alert');
  scene.person([5.7, 4.8], 'person 0.98');
  scene.post([5.7, 0.4], 2);
  scene.camera([5.7, 0.4, 2.1], [3.4, 2.6]);
  return scene;
}

function shutter(scene: Scene): string {
  return [0.2, 0.4, 0.6, 0.8, 1]
    .map(z => scene.face([0.9, 1.9, z], [1.3, 0, 0], [0, 0, 0.16], sceneColours.glass))
    .join('');
}

function surveillanceAnalytics(): Scene {
  const scene = vignette([6, 5, 1.6]);
  scene.ground();
  const heat = [
    [2, 2, 70],
    [3, 2, 45],
    [2, 3, 45],
    [3, 3, 28],
    [1, 2, 24],
    [4, 2, 16],
    [1, 3, 14],
    [4, 3, 12],
  ] as const;
  for (const [x, y, part] of heat) {
    scene.slab(
      [x, y],
      [1, 1],
      `color-mix(in srgb,var(--seen) ${part}%,var(--raised))`,
      sceneColours.grid,
    );
  }
  scene.box([0.6, 0.4], [4.6, 0.7, 1.1], materials.plain, wares(scene));
  scene.person([2.4, 2.6]);
  scene.person([2.9, 2.2]);
  scene.person([2.4, 3.5], 'dwell 74 s');
  scene.person([4.6, 3.6]);
  return scene;
}

function wares(scene: Scene): string {
  return [0, 1, 2, 3, 4, 5, 6]
    .flatMap(at =>
      [0.2, 0.65].map(z =>
        scene.face(
          [0.75 + at * 0.62, 1.1, z],
          [0.42, 0, 0],
          [0, 0, 0.3],
          at % 3 ? materials.pale.left : materials.ware.left,
        ),
      ),
    )
    .join('');
}

function healthCheck(): Scene {
  const scene = vignette([6, 5, 2.2]);
  scene.ground();
  const cameras = [
    [0.8, 0.9],
    [2.6, 0.9],
    [4.4, 0.9],
    [0.8, 3.2],
    [2.6, 3.2],
    [4.4, 3.2],
  ] as const;
  for (const [at, [x, y]] of cameras.entries()) {
    scene.box([x - 0.25, y - 0.25], [0.5, 0.5, 0.14], materials.low);
    scene.post([x, y, 0.14], 1.1);
    scene.box(
      [x - 0.18, y - 0.3, 1.2],
      [0.36, 0.75, 0.3],
      at === 4 ? materials.warm : materials.plain,
    );
    scene.box(
      [x - 0.1, y + 0.45, 1.26],
      [0.2, 0.06, 0.18],
      at === 4 ? materials.dark : materials.ware,
    );
  }
  scene.detect([2.6, 3.4, 0.9], { size: [54, 50], label: 'lens dirty', severity: 'alert' });
  return scene;
}

function activity(): Scene {
  const scene = vignette([6, 5, 1.8]);
  scene.ground();
  for (const [at, h] of [0.5, 0.8, 0.6, 1.1, 1.5, 0.9, 0.7].entries()) {
    scene.box([0.6 + at * 0.7, 0.5], [0.45, 0.6, h], at === 4 ? materials.ware : materials.plain);
  }
  scene.trail([
    [0.4, 4.4],
    [1.8, 2.4],
    [3.6, 2.8],
    [5.6, 1.8],
  ]);
  scene.trail(
    [
      [0.4, 2.2],
      [2.4, 3.8],
      [4.2, 3.6],
      [5.6, 4.4],
    ],
    sceneColours.line,
  );
  scene.person([3.6, 2.8], 'path 14 m');
  scene.person([2.4, 3.8]);
  return scene;
}

function accessControl(): Scene {
  const scene = vignette([6, 5, 2.2]);
  scene.ground();
  scene.slab([2.7, 0], [1, 5], sceneColours.path);
  for (const x of [1.2, 2.4, 3.7, 4.9]) {
    scene.box([x, 1.8], [0.3, 1.4, 0.9], materials.pale);
    scene.box([x + 0.05, 2.8, 0.9], [0.2, 0.28, 0.2], materials.dark);
  }
  scene.box([1.5, 2.3, 0.25], [0.9, 0.06, 0.5], materials.glass);
  scene.box([4, 2.3, 0.25], [0.9, 0.06, 0.5], materials.glass);
  scene.person([3.2, 1.2]);
  scene.person([3.2, 2.6], 'badge 0.99');
  scene.person([4.6, 4], 'no badge', 'alert');
  return scene;
}

/** By solution id. */
export const surveillanceScenes: Readonly<Record<string, () => Scene>> = {
  'advanced-threat-detection': threatDetection,
  'visual-surveillance-analytics': surveillanceAnalytics,
  'device-health-check': healthCheck,
  'activity-analytics': activity,
  'access-control': accessControl,
};
