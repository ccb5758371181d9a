import { materials, sceneColours } from '../../kit/drawing/materials.ts';
import type { Scene } from '../../kit/drawing/scene.ts';
import { cloud, laptop, phone, rack, vignette } from './solution-props.ts';

function alertSystem(): Scene {
  const scene = vignette([6, 5, 2.4]);
  scene.ground();
  scene.box([2.6, 2], [0.9, 0.9, 1], materials.plain);
  scene.box([2.75, 2.15, 1], [0.6, 0.6, 0.5], materials.warm);
  scene.detect([3.05, 2.45, 0.9], { size: [58, 60], label: 'alert 0.8 s', severity: 'alert' });
  phone(scene, [0.5, 3.4], [0.8, 1.3]);
  phone(scene, [4.6, 3.2], [0.8, 1.3]);
  laptop(scene, [0.6, 0.6]);
  scene.box(
    [4.6, 0.6],
    [1, 0.7, 0.5],
    materials.pale,
    scene.face([4.6, 1.3, 0.5], [0.5, -0.35, 0], [0.5, 0.35, 0], materials.plain.top),
  );
  for (const end of [
    [0.9, 4, 0.1],
    [5, 3.9, 0.1],
    [1.3, 1.2, 0.4],
    [5.1, 1, 0.5],
  ] as const) {
    scene.trail([[3.05, 2.45, 0], end]);
  }
  return scene;
}

function mobileApp(): Scene {
  const scene = vignette([6, 5, 1.2]);
  scene.ground();
  scene.box(
    [1.2, 0.9],
    [3.8, 3.2, 0.22],
    materials.dark,
    [
      scene.face([1.4, 1.1, 0.22], [3.4, 0, 0], [0, 2.8, 0], sceneColours.ground),
      scene.face([1.4, 1.1, 0.22], [3.4, 0, 0], [0, 0.5, 0], materials.ware.top),
      ...[0, 1].map(at =>
        scene.face([1.6, 1.85 + at * 0.95, 0.22], [1.4, 0, 0], [0, 0.75, 0], materials.pale.left),
      ),
      ...[0, 1].map(at =>
        scene.face(
          [3.2, 1.85 + at * 0.95, 0.22],
          [1.4, 0, 0],
          [0, 0.75, 0],
          at ? materials.warm.left : materials.pale.left,
        ),
      ),
    ].join(''),
  );
  scene.detect([3.9, 3.3, 0.3], { size: [52, 40], label: 'back door', severity: 'alert' });
  return scene;
}

function dashboard(): Scene {
  const scene = vignette([6, 5, 2.6]);
  scene.ground();
  const bars = [0.5, 0.9, 0.7, 1.2, 0.6].map((h, at) =>
    scene.face(
      [1.2 + at * 0.36, 1.62, 0.75],
      [0.22, 0, 0],
      [0, 0, h],
      at === 3 ? materials.ware.left : sceneColours.glass,
    ),
  );
  const feeds = [0, 1].flatMap(row =>
    [0, 1].map(at =>
      scene.face(
        [3.2 + at * 0.85, 1.62, 0.8 + row * 0.68],
        [0.72, 0, 0],
        [0, 0, 0.54],
        row && at ? sceneColours.lit : materials.pale.left,
      ),
    ),
  );
  scene.box([2.5, 1.3], [1, 0.3, 0.6], materials.dark);
  scene.box(
    [0.9, 1.4, 0.5],
    [4.2, 0.22, 1.8],
    materials.dark,
    [
      scene.face([1, 1.62, 0.6], [4, 0, 0], [0, 0, 1.6], sceneColours.ground),
      ...bars,
      ...feeds,
    ].join(''),
  );
  scene.box([1.6, 3.2], [2.2, 0.7, 0.1], materials.pale);
  scene.box([4.2, 3.3], [0.4, 0.55, 0.12], materials.pale);
  scene.detect([4.45, 1.62, 1.5], { size: [54, 50], label: 'cam-04' });
  return scene;
}

function deployment(): Scene {
  const scene = vignette([6, 5, 2.6]);
  scene.ground();
  scene.box(
    [0.6, 3],
    [1.4, 1.2, 0.5],
    materials.plain,
    [0, 1, 2]
      .map(at =>
        scene.face(
          [0.8 + at * 0.4, 4.2, 0.18],
          [0.24, 0, 0],
          [0, 0, 0.14],
          at === 1 ? sceneColours.lit : sceneColours.glass,
        ),
      )
      .join(''),
  );
  rack(scene, [4, 0.6]);
  cloud(scene, [3.2, 2.2]);
  scene.detect([1.3, 3.7, 0.1], { size: [78, 50], label: 'edge 12 ms' });
  scene.trail([
    [2, 3.4],
    [3.4, 3.4],
    [3.4, 2.8],
  ]);
  return scene;
}

function customModels(): Scene {
  const scene = vignette([6, 5, 2.4]);
  scene.ground();
  for (const [at, size] of [4, 3.2, 2.4, 1.6].entries()) {
    const [x, y, z] = [3 - size / 2, 2.5 - size * 0.42, 0.2 + at * 0.55] as const;
    const cells = [...Array(Math.round(size * 1.5)).keys()].flatMap(i =>
      [...Array(Math.round(size * 1.2)).keys()].map(j =>
        scene.face(
          [x + 0.15 + i * 0.62, y + 0.15 + j * 0.62, z + 0.14],
          [0.4, 0, 0],
          [0, 0.4, 0],
          (i * 2 + j * 3 + at) % 4 ? materials.pale.top : materials.ware.top,
        ),
      ),
    );
    scene.box(
      [x, y, z],
      [size, size * 0.84, 0.14],
      materials.plain,
      at === 3 ? cells.slice(0, 2).join('') : cells.join(''),
    );
  }
  scene.detect([3, 2.5, 1.9], { size: [66, 44], label: 'your case 0.96' });
  return scene;
}

function dataProtection(): Scene {
  const scene = vignette([6, 5, 2.2]);
  scene.ground();
  rack(scene, [0.6, 0.6]);
  rack(scene, [0.6, 2.2]);
  const door = [
    scene.face([2.9, 3.5, 0.2], [1.5, 0, 0], [0, 0, 1.5], materials.low.left),
    scene.face([3.4, 3.5, 0.7], [0.5, 0, 0], [0, 0, 0.5], sceneColours.lit),
    scene.face([3.02, 3.5, 0.85], [0.14, 0, 0], [0, 0, 0.3], sceneColours.screen),
  ];
  scene.box([2.6, 1.6], [2.1, 1.9, 1.9], materials.plain, door.join(''));
  scene.detect([3.65, 3.5, 0.5], { size: [62, 62], label: 'AES-256' });
  return scene;
}

function networkSecurity(): Scene {
  const scene = vignette([6, 5, 2.2]);
  scene.ground();
  rack(scene, [0.5, 1.4]);
  const bricks = [0, 1, 2, 3].flatMap(row =>
    [0, 1, 2, 3].map(at =>
      scene.face(
        [3.2, 0.7 + at * 0.9 + (row % 2) * 0.2, 0.08 + row * 0.4],
        [0, 0.7, 0],
        [0, 0, 0.3],
        row === 1 && at === 2 ? materials.ware.right : materials.pale.right,
      ),
    ),
  );
  scene.box(
    [2.9, 0.6],
    [0.3, 3.9, 1.7],
    materials.plain,
    `<g stroke-width=".6">${bricks.join('')}</g>`,
  );
  for (const [y, severity] of [
    [1, 'plain'],
    [2.5, 'ware'],
    [4, 'warm'],
  ] as const) {
    scene.box([4.6, y, 0], [0.45, 0.45, 0.45], materials[severity]);
  }
  scene.trail([
    [4.6, 2.7],
    [1.6, 2.7],
  ]);
  scene.detect([4.8, 4.2], { size: [46, 46], label: 'blocked', severity: 'alert' });
  return scene;
}

/** By solution id. */
export const platformScenes: Readonly<Record<string, () => Scene>> = {
  'smart-alert-system': alertSystem,
  'mobile-app-services': mobileApp,
  'web-ai-dashboard': dashboard,
  'deployment-options': deployment,
  'custom-ai-models': customModels,
  'data-protection': dataProtection,
  'network-security': networkSecurity,
};
