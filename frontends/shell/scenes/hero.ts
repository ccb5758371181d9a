import { materials } from '../../kit/drawing/materials.ts';
import { Scene } from '../../kit/drawing/scene.ts';
import { HERO_NARROW, HERO_WIDE } from '../src/scenes/hero-sizes.ts';
import { fridge, furnish, SHOP_WORLD, shelf, till } from './shop.ts';

// The shop as the home page shows it: to be read at a glance, with labels of 11 pixels at least wherever it stands.

/** On wide screens: the whole shop, in a column of 440 pixels or more. */
export function wideHero(): Scene {
  const scene = new Scene(SHOP_WORLD, [HERO_WIDE.width, HERO_WIDE.height], HERO_WIDE.type);
  furnish(scene);
  scene.person([6, 2.2], 'concealing 0.91', 'alert');
  scene.person([8.05, 6.5], 'staff 0.99');
  for (const y of [5.9, 6.9, 7.9]) {
    scene.person([6.1, y]);
  }
  scene.detect([6.1, 7], { size: [92, 86], label: 'queue 3 · 40 s' });
  scene.walker([2.3, 8.1], { to: [4, 8.1], seconds: 9 }, 'person 0.97');
  scene.detect([4.35, 4.6, 1.2], { size: [62, 40], label: 'shelf gap 0.95' });
  scene.walker([9.3, 1.4], { to: [7.4, 1.4], seconds: 11, sinceSeconds: 3 });
  return scene;
}

/** On a phone: a smaller shop, nearer, with what matters most in it, in a column of 280 pixels or more. */
export function narrowHero(): Scene {
  const scene = new Scene(
    [7.4, 7.4, 2.4],
    [HERO_NARROW.width, HERO_NARROW.height],
    HERO_NARROW.type,
  );
  scene.room();
  fridge(scene, 3.4);
  shelf(scene, 0.9, 6);
  till(scene, [5.6, 4.6]);
  scene.box([0.3, 6.6], [0.6, 0.6, 0.5], materials.ware);
  scene.camera([0.1, 0.1, 2.3], [3.6, 3.4]);
  scene.person([2.7, 2.2], 'concealing 0.91', 'alert');
  scene.person([6.95, 5.4], 'staff 0.99');
  for (const y of [4.9, 5.8, 6.7]) {
    scene.person([5, y]);
  }
  scene.detect([5, 5.9], { size: [88, 82], label: 'queue 3 · 40 s' });
  scene.walker([1.7, 6.9], { to: [2.9, 6.9], seconds: 8 }, 'person 0.97');
  return scene;
}
