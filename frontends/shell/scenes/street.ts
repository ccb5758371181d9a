import type { Point, Size } from '../../kit/drawing/isometric.ts';
import { materials, sceneColours } from '../../kit/drawing/materials.ts';
import { Scene } from '../../kit/drawing/scene.ts';
import { LENGTH_SECONDS, STREET } from '../src/scenes/evening.ts';
import type { Part } from '../src/scenes/sightings.ts';
import { sightingsAt } from '../src/scenes/sightings.ts';

const SHOP: Point = [0.8, 0.1];
const SHOP_SIZE: Size = [6.6, 2.1, 2.2];
const FRONT = 2.2;
const WATCHED: readonly Point[] = [
  [6, 2.3],
  [6, 4.2],
  [2.3, 4.2],
];
const CAMERA: Point = [0.5, 4.15, 2.3];

/** Last frame of the recording. The fragment `#empty` hides everyone. */
export function streetScene(): Scene {
  const scene = new Scene(STREET.world, STREET.picture);
  const [width] = STREET.world;
  scene.ground();
  scene.slab([0, 4.45], [width, 1.85], sceneColours.path);
  scene.slab([0, 4.35], [width, 0.1], materials.pale.top);
  for (let x = 0.3; x < width - 0.6; x += 1.2) {
    scene.slab([x, 6.05], [0.6, 0.08], sceneColours.grid);
  }
  scene.zone([2.9, 2.35], [2.4, 1.5]);
  shop(scene);
  scene.box([1.2, 2.35], [0.5, 0.4, 0.4], materials.ware);
  scene.box([1.8, 2.35], [0.4, 0.4, 0.25], materials.pale);
  scene.tree([7.85, 0.9]);
  scene.tree([7.85, 2.4]);
  scene.post([0.5, 4.15], 2.2);
  scene.beam(CAMERA, WATCHED);
  scene.camera(CAMERA);
  scene.actors(still());
  return scene;
}

function shop(scene: Scene) {
  const pane = (x: number, w: number, z: number, h: number, fill: string) =>
    scene.face([x, FRONT, z], [w, 0, 0], [0, 0, h], fill);
  const front = [
    pane(1.2, 1.9, 0.4, 0.95, sceneColours.lit),
    pane(2.15, 0.02, 0.4, 0.95, sceneColours.line),
    pane(3.5, 0.95, 0, 1.4, sceneColours.glass),
    pane(4.28, 0.06, 0.6, 0.14, sceneColours.lit),
    pane(4.95, 1.9, 0.4, 0.95, sceneColours.lit),
    pane(5.9, 0.02, 0.4, 0.95, sceneColours.line),
    scene.lettering([3.05, FRONT, 1.58], 'x', 'SHOP', 0.58),
  ];
  scene.box(SHOP, SHOP_SIZE, materials.plain, `<g stroke-width=".8">${front.join('')}</g>`);
  scene.box([1.4, 0.5, SHOP_SIZE[2]], [0.8, 0.6, 0.3], materials.low);
}

/** Actors of the last frame. The page draws their labels, whose scale depends on the page's width. */
function still(): string {
  return sightingsAt(LENGTH_SECONDS)
    .map(({ transform, parts, brackets, severity }) => {
      const figure = `<g transform="${transform}">${parts.map(toSvg).join('')}</g>`;
      return `${figure}<path d="${brackets}" stroke="${sceneColours[severity]}" stroke-width="2.4"/>`;
    })
    .join('');
}

function toSvg([name, attributes]: Part): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${value}"`);
  return `<${name}${written.join('')}/>`;
}
