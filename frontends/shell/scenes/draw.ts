import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Preview } from '../../build/previews.ts';
import { drawPreviews } from '../../build/previews.ts';
import type { Point, Scene } from '../../kit/drawing/scene.ts';
import { services as details } from '../src/content/services.ts';
import { bankCloseUps, bankScene } from './bank.ts';
import { cityCloseUps, cityScene } from './city.ts';
import { factoryCloseUps, factoryScene } from './factory.ts';
import { junctionCloseUps, junctionScene } from './junction.ts';
import { nothingScene } from './nothing.ts';
import { officeCloseUps, officeScene } from './office.ts';
import { shopCloseUps, shopScene } from './shop.ts';
import { solutionScenes } from './solutions.ts';

// Draws all scenes anew, notes where in them the close-ups are, and makes the pages' previews of them:
// `npm run draw`.

type CloseUp = ReturnType<Scene['closeUp']>;

const services: Record<string, [() => Scene, readonly Point[]]> = {
  shop: [shopScene, shopCloseUps],
  bank: [bankScene, bankCloseUps],
  factory: [factoryScene, factoryCloseUps],
  junction: [junctionScene, junctionCloseUps],
  city: [cityScene, cityCloseUps],
  office: [officeScene, officeCloseUps],
};
const folder = join(import.meta.dirname, '../src/scenes');
const closeUps: Record<string, { main: CloseUp; features: CloseUp[] }> = {};
for (const [name, [draw, points]] of Object.entries(services)) {
  const scene = draw();
  const [first = [0, 0]] = points;
  closeUps[name] = {
    main: scene.closeUp(first, 430),
    features: points.map(point => scene.closeUp(point)),
  };
  writeFileSync(join(folder, `${name}.svg`), scene.toSvg());
}
for (const [id, draw] of Object.entries({ ...solutionScenes, nothing: nothingScene })) {
  writeFileSync(join(folder, `${id}.svg`), draw().toSvg());
}
writeFileSync(join(folder, 'close-ups.json'), `${JSON.stringify(closeUps, null, 2)}\n`);

const SCENE_OF: Readonly<Record<string, string>> = {
  'retail-wholesale-high-risk': 'shop',
  'banks-atms-financial': 'bank',
  'industry-smart-factories': 'factory',
  'traffic-public-safety': 'junction',
  'smart-cities-infrastructure': 'city',
  'corporate-residential': 'office',
};
const previews = join(import.meta.dirname, '../public/previews');
mkdirSync(previews, { recursive: true });
await drawPreviews([
  preview('home', 'AI that watches, so that someone notices', 'shop'),
  preview('about', 'Pioneering AI Security', 'city'),
  preview('contact', 'Let’s Connect', 'office'),
  preview('services', 'Tailored Security Services', 'junction'),
  preview('solutions', 'Advanced Security Solutions', 'custom-ai-models'),
  ...details.map(({ id, title }) => preview(id, title, SCENE_OF[id] ?? 'shop')),
]);

function preview(name: string, title: string, scene: string): Preview {
  return {
    file: join(previews, `${name}.jpg`),
    title,
    scene: readFileSync(join(folder, `${scene}.svg`), 'utf8'),
  };
}
