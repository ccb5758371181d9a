import { materials, sceneColours } from '../../kit/drawing/materials.ts';
import { Scene } from '../../kit/drawing/scene.ts';

const PICTURE = [800, 450] as const;
const TYPE = 15;

function platform(): Scene {
  const scene = new Scene([13, 8, 2.6], PICTURE, TYPE);
  scene.ground();
  scene.slab([0, 0], [13, 2.5], sceneColours.path);
  for (let at = 0; at < 13; at += 1) {
    scene.slab([at + 0.3, 0.2], [0.25, 2.1], sceneColours.grid);
  }
  const windows = [0, 1, 2, 3, 4, 5].map(at =>
    scene.face(
      [1.6 + at * 1.75, 2.3, 1.1],
      [1.15, 0, 0],
      [0, 0, 0.65],
      at === 4 ? sceneColours.lit : sceneColours.glass,
    ),
  );
  const doors = [0, 1, 2, 3, 4].map(at =>
    scene.face([2.83 + at * 1.75, 2.3, 0.3], [0.44, 0, 0], [0, 0, 1.5], materials.low.left),
  );
  scene.box([1.2, 0.3, 0.2], [11, 2, 2], materials.plain, [...windows, ...doors].join(''));
  scene.slab([0, 3], [13, 0.16], sceneColours.lit);
  scene.box([1, 6.4], [2.2, 0.6, 0.4], materials.low);
  scene.box([9.4, 6.4], [2.2, 0.6, 0.4], materials.low);
  for (const x of [0.6, 6.2]) {
    scene.post([x, 5.2], 3);
  }
  scene.box([0.6, 5.1, 2.5], [5.6, 0.2, 0.5], materials.dark);
  scene.box([11.6, 4.4], [0.5, 0.4, 0.5], materials.ware);
  scene.detect([11.85, 4.6], { size: [50, 46], label: 'left bag 0.96' });
  scene.person([2.2, 4.1], 'person 0.98');
  scene.person([4.3, 7.2], 'person 0.99');
  scene.person([8.6, 3.8]);
  scene.person([6.7, 5.5], '', 'alert');
  scene.person([7.2, 5.4], '', 'alert');
  scene.detect([6.95, 5.45], { size: [76, 60], label: 'dispute 0.91', severity: 'alert' });
  scene.camera([0.6, 5.2, 3], [7, 5.8]);
  return scene;
}

function reception(): Scene {
  const scene = new Scene([9, 9, 2.6], PICTURE, TYPE);
  scene.room();
  scene.onWall([5.4, 0, 0], [1.5, 0, 2], sceneColours.glass);
  scene.onWall([2.2, 0, 1.1], [2.2, 0, 0.9], materials.low.left);
  scene.onWall([0, 5.2, 0.9], [0, 2.4, 1.1], sceneColours.glass);
  scene.box([7.4, 0.3], [0.9, 0.9, 2], materials.dark, rackLights(scene));
  scene.detect([7.85, 0.75], { size: [84, 128], label: 'stays here' });
  scene.box([3.6, 2.6], [3.4, 0.8, 0.9]);
  scene.box([4.2, 2.75, 0.9], [0.5, 0.3, 0.4], materials.glass);
  scene.box([0.7, 4.4], [0.9, 2.6, 0.45], materials.low);
  scene.box([0.5, 7.9], [0.5, 0.5, 0.5], materials.low);
  scene.tree([0.75, 8.15]);
  scene.person([5.3, 2]);
  scene.person([6.3, 5.2], 'person · no name');
  scene.person([2.3, 5], 'person · no name');
  scene.person([3.9, 8.2], 'person · no name');
  scene.camera([0.1, 0.1, 2.6], [4.6, 5.2]);
  return scene;
}

function rackLights(scene: Scene): string {
  return [0, 1, 2, 3, 4]
    .map(at =>
      scene.face(
        [8.3, 0.45, 0.3 + at * 0.33],
        [0, 0.6, 0],
        [0, 0, 0.14],
        at % 2 ? sceneColours.lit : sceneColours.glass,
      ),
    )
    .join('');
}

function controlRoom(): Scene {
  const scene = new Scene([9, 9, 2.8], PICTURE, TYPE);
  scene.room();
  for (let row = 0; row < 3; row += 1) {
    for (let at = 0; at < 7; at += 1) {
      const isLit = row === 1 && at === 4;
      scene.onWall(
        [0.5 + at * 1.15, 0, 0.4 + row * 0.75],
        [1, 0, 0.6],
        isLit ? sceneColours.lit : materials.dark.right,
      );
    }
  }
  scene.onWall([0, 1.4, 0.6], [0, 6, 1.7], materials.dark.right);
  for (const [x, y] of [
    [2, 3],
    [5, 3],
    [2, 6],
    [5, 6],
  ] as const) {
    scene.box([x, y], [2.2, 0.9, 0.75]);
    scene.box([x + 0.2, y + 0.2, 0.75], [0.8, 0.12, 0.5], materials.dark);
    scene.box([x + 1.2, y + 0.2, 0.75], [0.8, 0.12, 0.5], materials.dark);
    scene.box([x + 0.85, y + 1.2], [0.5, 0.5, 0.4], materials.low);
  }
  scene.person([7.9, 2.3], 'operator 0.99');
  scene.box([7.9, 5.9], [0.7, 0.7, 0.35], materials.ware);
  scene.detect([8.25, 6.25], { size: [62, 54], label: 'edge box 0.97' });
  scene.detect([5.6, 0, 1.05], { size: [68, 70], label: 'yard fence 0.94', severity: 'alert' });
  scene.camera([0.1, 0.1, 2.8], [4.8, 5.4]);
  return scene;
}

function gates(): Scene {
  const scene = new Scene([11, 9, 2.6], PICTURE, TYPE);
  scene.room();
  for (const x of [1.2, 7.6]) {
    scene.onWall([x, 0, 0], [1.1, 0, 2], sceneColours.glass);
    scene.onWall([x + 1.2, 0, 0], [1.1, 0, 2], sceneColours.glass);
  }
  scene.onWall([4.3, 0, 1], [2.4, 0, 0.8], materials.low.left);
  for (const x of [1.4, 3.6, 5.8, 8]) {
    scene.box([x, 3.4], [0.5, 2, 0.9]);
    scene.box([x + 0.1, 5, 0.9], [0.3, 0.3, 0.25], materials.glass);
  }
  scene.box([1.9, 4.3, 0.2], [1.7, 0.08, 0.55], materials.glass);
  scene.box([6.3, 4.3, 0.2], [1.7, 0.08, 0.55], materials.glass);
  scene.box([9.3, 5.2], [1.2, 2.6, 0.9]);
  scene.box([0.5, 6.2], [0.5, 0.5, 0.5], materials.low);
  scene.tree([0.75, 6.45]);
  scene.person([4.9, 2.1]);
  scene.person([4.85, 4.6]);
  head(scene, [4.85, 4.6], 'match 0.98');
  scene.person([7.4, 6.6], '', 'alert');
  head(scene, [7.4, 6.6], 'not enrolled', 'alert');
  scene.person([2.2, 8.2], 'person · not asked');
  scene.person([10, 4.9]);
  scene.camera([4.9, 0.05, 2.6], [5.2, 5.6]);
  return scene;
}

/** Puts the detection box around the head alone. */
function head(
  scene: Scene,
  [x, y]: readonly [number, number],
  label: string,
  severity: 'seen' | 'alert' = 'seen',
) {
  scene.detect([x, y, 0.6], { size: [28, 28], label, severity });
}

function house(): Scene {
  const scene = new Scene([11, 10, 3], PICTURE, TYPE);
  scene.ground();
  scene.slab([7.4, 0], [1.8, 10], sceneColours.path);
  scene.slab([5.2, 2.9], [2.2, 0.9], materials.low.top);
  const windows = [0.8, 3.6].map(x =>
    scene.face([x + 0.6, 4.6, 0.8], [1, 0, 0], [0, 0, 0.8], sceneColours.lit),
  );
  const side = [1.4, 3].map((y, at) =>
    scene.face(
      [5.2, y, at ? 0 : 0.8],
      [0, 0.7, 0],
      [0, 0, at ? 1.5 : 0.7],
      at ? materials.low.top : sceneColours.glass,
    ),
  );
  scene.box([0.8, 0.8], [4.4, 3.8, 2], materials.plain, [...windows, ...side].join(''));
  scene.roof([0.6, 0.6, 2], [4.8, 4.2, 1.5]);
  scene.box([0.4, 9.4], [6.4, 0.12, 0.5], materials.low);
  scene.box([6.9, 4.6], [0.12, 4.92, 0.5], materials.low);
  scene.box([6.9, 0.2], [0.12, 2.2, 0.5], materials.low);
  scene.tree([1.6, 7.6]);
  scene.tree([3.2, 8.4]);
  scene.car([7.85, 0.6], 'y');
  scene.detect([8.3, 1.6], { size: [96, 76], label: 'car 0.99' });
  scene.box([5.5, 3.9], [0.5, 0.5, 0.4], materials.ware);
  scene.detect([5.75, 4.15], { size: [46, 46], label: 'parcel 0.97' });
  scene.person([8.4, 5.6], 'visitor 0.96');
  scene.box([4.6, 7.6], [0.5, 0.16, 0.2], materials.pale);
  scene.box([5, 7.58, 0.14], [0.2, 0.2, 0.2], materials.pale);
  scene.detect([4.9, 7.7], { size: [50, 40], label: 'cat 0.99 · asleep' });
  scene.camera([5.2, 4.6, 2], [6, 6]);
  return scene;
}

function store(): Scene {
  const scene = new Scene([13, 10, 2.4], PICTURE, TYPE);
  scene.room();
  scene.box([1, 0.2], [8, 0.7, 1.5], materials.glass);
  for (const x of [1.2, 3.6, 6]) {
    scene.box([x, 2], [0.9, 4, 1.2]);
    for (let at = 0; at < 5; at += 1) {
      const height = 0.2 + 0.12 * ((at + x) % 3);
      scene.box(
        [x + 0.15, 2.2 + at * 0.75, 1.2],
        [0.55, 0.5, height],
        at % 2 ? materials.pale : materials.ware,
      );
    }
  }
  for (const x of [2, 4.6, 7.2]) {
    scene.box([x, 7.4], [0.7, 1.9, 0.65]);
    scene.box([x + 0.15, 7.6, 0.65], [0.4, 0.4, 0.35], materials.glass);
  }
  for (const y of [3.2, 5.6]) {
    scene.box([12.2, y], [0.2, 0.9, 1.4], materials.pale);
  }
  scene.box([10, 1], [1.3, 1.3, 0.6], materials.low);
  scene.box([10.2, 1.2, 0.6], [0.9, 0.9, 0.3], materials.ware);
  scene.person([7.5, 3.6], 'concealing 0.91', 'alert');
  scene.person([2.9, 6.6], 'person 0.98');
  scene.person([9.8, 4.4], 'staff 0.99');
  scene.person([4, 8.4]);
  scene.person([6.5, 8.6], 'at the till 0.97');
  scene.person([10.9, 6.8]);
  scene.camera([0.1, 0.1, 2.4], [7, 4.6]);
  return scene;
}

export const scenes: Readonly<Record<string, () => Scene>> = {
  'ai-advancements': platform,
  'privacy-security': reception,
  'future-trends': controlRoom,
  'facial-recognition': gates,
  'smart-home': house,
  'case-study': store,
};
