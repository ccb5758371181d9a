import { materials, sceneColours } from '../../kit/drawing/materials.ts';
import { Scene } from '../../kit/drawing/scene.ts';

export function workshop(): Scene {
  const scene = new Scene([12, 9, 3], [800, 520], 13);
  scene.room();
  scene.onWall([0, 2.2, 0.9], [0, 3.6, 1.5], sceneColours.glass);
  board(scene);
  for (const [x, y] of [
    [2, 2.6],
    [6.4, 2.6],
    [2, 5.6],
    [6.4, 5.6],
  ] as const) {
    bench(scene, x, y);
  }
  scene.box([10.4, 0.5], [1.1, 1.6, 2], materials.dark, rack(scene));
  scene.detect([10.95, 1.3], { size: [92, 104], label: 'GPU 0.99' });
  scene.box([0.5, 7.3], [1.6, 0.9, 0.9], materials.low);
  scene.box([0.8, 7.5, 0.9], [0.5, 0.5, 0.7], materials.dark);
  scene.detect([1.1, 7.8, 0.9], { size: [44, 46], label: 'coffee 0.98' });
  scene.tree([11.4, 7.9]);
  scene.person([2.7, 3.9], 'intern 0.98');
  scene.person([7.1, 3.9]);
  scene.person([7.9, 3.9], 'mentor 0.97');
  scene.person([3.6, 6.9], 'intern 0.99');
  scene.walker([6.6, 8.1], { to: [10, 8.1], seconds: 12 }, 'idea 0.61');
  scene.camera([0.1, 0.1, 3], [5, 4.6]);
  return scene;
}

function bench(scene: Scene, x: number, y: number) {
  scene.box([x, y], [2.6, 0.9, 0.75], materials.plain);
  scene.box([x + 0.3, y + 0.15, 0.75], [0.8, 0.12, 0.6], materials.dark);
  scene.box([x + 1.4, y + 0.15, 0.75], [0.8, 0.12, 0.6], materials.dark);
  scene.box([x + 2.2, y + 0.5, 0.75], [0.24, 0.24, 0.2], materials.ware);
}

function board(scene: Scene) {
  scene.onWall([2.4, 0, 1], [4.6, 0, 1.7], materials.plain.top);
  scene.sign([2.75, 0, 1.18], 'x', 'what did we miss?', 0.37);
  for (const [x, z] of [
    [2.9, 1.95],
    [3.9, 1.95],
    [4.9, 1.95],
    [5.9, 1.95],
  ] as const) {
    scene.onWall([x, 0, z], [0.6, 0, 0.5], x === 4.9 ? sceneColours.alert : sceneColours.seen);
  }
  scene.detect([5.2, 0, 1.85], { size: [40, 44], label: 'bug 0.94', severity: 'alert' });
}

function rack(scene: Scene): string {
  return [0, 1, 2, 3, 4]
    .map(at =>
      scene.face(
        [11.5, 0.7, 0.3 + at * 0.34],
        [0, 1.2, 0],
        [0, 0, 0.14],
        at % 2 ? sceneColours.lit : sceneColours.glass,
      ),
    )
    .join('');
}
