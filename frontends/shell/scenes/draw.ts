import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Point, Scene } from '../../kit/drawing/scene.ts';
import { bankCloseUps, bankScene } from './bank.ts';
import { cityCloseUps, cityScene } from './city.ts';
import { factoryCloseUps, factoryScene } from './factory.ts';
import { junctionCloseUps, junctionScene } from './junction.ts';
import { officeCloseUps, officeScene } from './office.ts';
import { shopCloseUps, shopScene } from './shop.ts';
import { solutionScenes } from './solutions.ts';

// Draws all scenes anew, and notes where in them the close-ups are: `npm run draw`.

const services: Record<string, [() => Scene, readonly Point[]]> = {
  shop: [shopScene, shopCloseUps],
  bank: [bankScene, bankCloseUps],
  factory: [factoryScene, factoryCloseUps],
  junction: [junctionScene, junctionCloseUps],
  city: [cityScene, cityCloseUps],
  office: [officeScene, officeCloseUps],
};
const folder = join(import.meta.dirname, '../src/scenes');
const closeUps: Record<string, { main: string; features: string[] }> = {};
for (const [name, [draw, points]] of Object.entries(services)) {
  const scene = draw();
  writeFileSync(join(folder, `${name}.svg`), scene.toSvg());
  const [first = [0, 0]] = points;
  closeUps[name] = {
    main: scene.closeUp(first, 430),
    features: points.map(point => scene.closeUp(point)),
  };
}
for (const [id, draw] of Object.entries(solutionScenes)) {
  writeFileSync(join(folder, `${id}.svg`), draw().toSvg());
}
writeFileSync(join(folder, 'close-ups.json'), `${JSON.stringify(closeUps, null, 2)}\n`);
