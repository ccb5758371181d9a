import { materials, sceneColours } from '../../kit/drawing/materials.ts';
import { Scene } from '../../kit/drawing/scene.ts';

const PICTURE = [480, 320] as const;

export function rack(scene: Scene, [x, y]: readonly [number, number]) {
  const units = [0, 1, 2, 3].map(at =>
    scene.face(
      [x + 1, y + 0.15, 0.2 + at * 0.38],
      [0, 0.7, 0],
      [0, 0, 0.24],
      at === 2 ? sceneColours.lit : sceneColours.glass,
    ),
  );
  scene.box([x, y], [1, 1, 1.8], materials.plain, units.join(''));
}

export function phone(
  scene: Scene,
  [x, y]: readonly [number, number],
  [w, d]: readonly [number, number],
) {
  scene.box(
    [x, y],
    [w, d, 0.1],
    materials.dark,
    [
      scene.face([x + 0.08, y + 0.1, 0.1], [w - 0.16, 0, 0], [0, d - 0.2, 0], sceneColours.ground),
      scene.face([x + 0.16, y + 0.2, 0.1], [w - 0.32, 0, 0], [0, 0.3, 0], materials.warm.top),
    ].join(''),
  );
}

export function laptop(scene: Scene, [x, y]: readonly [number, number]) {
  scene.box([x, y + 0.15], [1.4, 0.9, 0.08], materials.pale);
  scene.box(
    [x, y, 0.08],
    [1.4, 0.08, 0.9],
    materials.dark,
    scene.face([x + 0.1, y + 0.08, 0.18], [1.2, 0, 0], [0, 0, 0.7], materials.ware.left),
  );
}

/** Font size of labels. It is 11 pixels on the narrowest phone, where a picture is 280 pixels wide. */
const TYPE = 19;

export function vignette(world: readonly [number, number, number]): Scene {
  return new Scene(world, PICTURE, TYPE);
}

export function cloud(scene: Scene, [x, y]: readonly [number, number]) {
  scene.box([x, y, 1], [1.9, 1, 0.5], materials.pale);
  scene.box([x + 0.35, y + 0.15, 1.5], [1.1, 0.7, 0.4], materials.pale);
  scene.detect([x + 0.95, y + 0.5, 1], { size: [112, 66], label: 'cloud' });
}
