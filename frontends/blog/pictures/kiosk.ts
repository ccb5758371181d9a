import { materials, sceneColours } from '../../kit/drawing/materials.ts';
import { Scene } from '../../kit/drawing/scene.ts';

/** A newsstand on a square, at the top of the list of articles. */
export function kiosk(): Scene {
  const scene = new Scene([10, 8.4, 2.6], [800, 520], 13);
  scene.ground();
  scene.slab([0, 0], [10, 1.6], sceneColours.path);
  for (let at = 0; at < 10; at += 1) {
    scene.slab([at + 0.3, 0.75], [0.5, 0.1], sceneColours.lit);
  }
  scene.driver([-0.6, 0.35], { to: [8.6, 0.35], seconds: 9 }, { label: 'car 0.99' });
  scene.box([3.4, 2.6], [3.6, 1.8, 2.2], materials.plain, front(scene));
  scene.roof([3.1, 2.3, 2.2], [4.2, 2.4, 0.7]);
  scene.box([3.5, 4.4], [3.4, 0.5, 0.8], materials.low, papers(scene));
  scene.detect([5.2, 4.9], { size: [150, 40], label: 'fresh print 0.97' });
  scene.person([4.2, 6.2], 'reader 0.98');
  scene.person([8.2, 3.6]);
  scene.person([8.8, 3.6], 'reader 0.99');
  scene.box([0.7, 4.4], [0.7, 2.2, 0.4], materials.low);
  scene.person([1.7, 5.7]);
  scene.box([8.4, 6.2], [0.6, 0.22, 0.32], materials.ware);
  scene.detect([8.7, 6.3], { size: [46, 36], label: 'dog · reads nothing' });
  scene.walker([2.4, 7.8], { to: [6.4, 7.8], seconds: 15 }, 'in a hurry 0.96');
  scene.tree([0.8, 2.7]);
  scene.tree([9.5, 4.9]);
  scene.tree([9.4, 2.4]);
  scene.camera([3.1, 4.7, 2.3], [4.4, 6.6]);
  return scene;
}

function front(scene: Scene): string {
  return scene.face([3.7, 4.4, 1], [3, 0, 0], [0, 0, 0.95], sceneColours.lit);
}

function papers(scene: Scene): string {
  return [0, 1, 2, 3, 4, 5]
    .map(at =>
      scene.face(
        [3.65 + at * 0.54, 4.5, 0.8],
        [0.4, 0, 0],
        [0, 0.3, 0],
        at === 2 ? sceneColours.seen : 'var(--paper)',
      ),
    )
    .join('');
}
