import { Scene } from '../../kit/drawing/scene.ts';

/** For not-found pages. */
export function emptyRoomScene(): Scene {
  const scene = new Scene([7, 6, 2.4], [480, 320], 14);
  scene.room();
  scene.onWall([0, 1.8, 0], [0, 1.2, 1.8], 'var(--face-r)');
  scene.box([5.6, 0.5], [0.6, 0.6, 0.5]);
  scene.tree([5.9, 0.8, 0.5]);
  scene.detect([3.6, 3.4], { size: [110, 76], label: 'nothing 0.99' });
  scene.camera([0.1, 0.1, 2.3], [3.6, 3.2]);
  return scene;
}
