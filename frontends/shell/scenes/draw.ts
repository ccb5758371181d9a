import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Preview } from '../../build/previews.ts';
import { drawPreviews } from '../../build/previews.ts';
import type { Point } from '../../kit/drawing/isometric.ts';
import type { Scene } from '../../kit/drawing/scene.ts';
import { services } from '../src/content/services.ts';
import { CLOSE_UP_WIDTHS } from '../src/scenes/close-ups.ts';
import { bankCloseUps, bankScene } from './bank.ts';
import { cityCloseUps, cityScene } from './city.ts';
import { emptyRoomScene } from './empty-room.ts';
import { factoryCloseUps, factoryScene } from './factory.ts';
import { junctionCloseUps, junctionScene } from './junction.ts';
import { officeCloseUps, officeScene } from './office.ts';
import { platformScenes } from './platform-solutions.ts';
import { shopCloseUps, shopScene } from './shop.ts';
import { streetScene } from './street.ts';
import { surveillanceScenes } from './surveillance-solutions.ts';

// `npm run draw` draws all scenes and the pages' previews.

const scenesByService: Record<string, [() => Scene, readonly Point[]]> = {
  'retail-wholesale-high-risk': [shopScene, shopCloseUps],
  'banks-atms-financial': [bankScene, bankCloseUps],
  'industry-smart-factories': [factoryScene, factoryCloseUps],
  'traffic-public-safety': [junctionScene, junctionCloseUps],
  'smart-cities-infrastructure': [cityScene, cityCloseUps],
  'corporate-residential': [officeScene, officeCloseUps],
};
const folder = join(import.meta.dirname, '../src/scenes');
for (const [id, [draw, points]] of Object.entries(scenesByService)) {
  const scene = draw();
  const [first = [0, 0]] = points;
  scene.closeUp(first, CLOSE_UP_WIDTHS.main);
  for (const point of points) {
    scene.closeUp(point, CLOSE_UP_WIDTHS.feature);
  }
  writeFileSync(drawing(id), scene.toSvg());
}
const otherScenes = {
  ...surveillanceScenes,
  ...platformScenes,
  'empty-room': emptyRoomScene,
  street: streetScene,
};
for (const [id, draw] of Object.entries(otherScenes)) {
  writeFileSync(drawing(id), draw().toSvg());
}

const previews = join(import.meta.dirname, '../public/previews');
mkdirSync(previews, { recursive: true });
await drawPreviews([
  preview('home', 'AI that watches, so that someone notices', 'retail-wholesale-high-risk'),
  preview('about', 'Pioneering AI Security', 'smart-cities-infrastructure'),
  preview('contact', 'Let’s Connect', 'corporate-residential'),
  preview('services', 'Tailored Security Services', 'traffic-public-safety'),
  preview('solutions', 'Advanced Security Solutions', 'custom-ai-models'),
  preview('privacy', 'Privacy Policy', 'data-protection'),
  preview('terms', 'Terms of Service', 'access-control'),
  ...services.map(({ id, title }) => preview(id, title, id)),
]);

function preview(name: string, title: string, scene: string): Preview {
  return { file: join(previews, `${name}.jpg`), title, drawing: drawing(scene) };
}

function drawing(id: string): string {
  return join(folder, `${id}.svg`);
}
