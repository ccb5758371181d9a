import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { root } from '../../../build/file-paths.ts';
import { disableToastTimeouts } from '../../../kit/testing/show-toast.ts';
import type { Engine } from './engine.ts';
import { VISIBLE_TIMEOUT_MS } from './engine.ts';
import { ENGINES } from './engines.ts';
import type { Visitor } from './visitor.ts';
import { visitorsOf } from './visitor.ts';

/** Folder of screenshots for a person to check. */
const PICTURES = join(root, 'target/engines');

const RETAIL = 'Retail Security Shop and wholesale security';
const BANKS = 'Bank Security Financial institutions';

/** Highest brightness (0 to 255) of a light toast that the dialog's backdrop dims. */
const DIMMED = 225;
/** An empty part of the home page: left, top, width, height. */
const LEFT_MARGIN = [0, 100, 100, 300] as const;
/** Lowest ratio of the light theme's brightness to the dark theme's. */
const DARKER = 3;
/** Highest brightness (0 to 255) of a dark area. */
const DARK = 80;

describe.each(ENGINES)('$name', engine => {
  const visitor = visitorsOf(engine);

  test('the services panel works by keyboard', async () => {
    const { open, tabTo, tab, isThere, the } = visitor();
    await open('/');
    await tabTo('button', 'All services');
    await tab.press('Enter');
    await the('link', RETAIL);
    await tab.press('Escape');
    await expect.poll(() => isThere('link', RETAIL)).toBe(false);
    await tab.press('Enter');
    await tabTo('link', BANKS);
    await tab.press('Enter');
    await the('heading', 'Banks, ATMs and Financial Institutions');
    expect(await isThere('link', RETAIL)).toBe(false);
  });

  test('the services panel opens on hover and stays reachable', async () => {
    const { open, the } = visitor();
    await open('/');
    await (await the('link', 'Services')).hover();
    await (await the('link', RETAIL)).hover();
    await (await the('link', BANKS)).click();
    await the('heading', 'Banks, ATMs and Financial Institutions');
  });

  test('the services panel opens on a click, closes on Escape', async () => {
    const { open, the, isThere, tab } = visitor();
    await open('/');
    await (await the('button', 'All services')).click();
    await the('link', RETAIL);
    await tab.press('Escape');
    await expect.poll(() => isThere('link', RETAIL)).toBe(false);
  });

  test('the theme changes the page and survives a reload', async () => {
    const shown = visitor();
    await shown.open('/');
    const light = await look(shown, engine, 'light');
    await (await shown.the('button', 'Dark theme')).click();
    await expect.poll(() => shown.evaluate(background)).not.toBe(light.background);
    const dark = await look(shown, engine, 'dark');
    expect(light.margin).toBeGreaterThan(DARKER * dark.margin);
    await shown.open('/');
    expect(await shown.evaluate(background)).toBe(dark.background);
  });

  test(`drawings ${engine.drawings}`, async () => {
    const shown = visitor();
    await shown.open('/');
    const light = await look(shown, engine, 'light');
    await (await shown.the('button', 'Dark theme')).click();
    await expect.poll(() => shown.evaluate(background)).not.toBe(light.background);
    const dark = await look(shown, engine, 'dark');
    expect(light.drawing > DARKER * dark.drawing).toBe(engine.drawings === 'follow the theme');
  });

  test('a toast shows above an open dialog and its backdrop', async () => {
    const { open, the, evaluate, tab } = visitor();
    await open('/careers');
    await (await the('link', 'Apply Now')).click();
    await the('dialog', 'Position');
    await evaluate(disableToastTimeouts);
    await evaluate(() => {
      const detail = { kind: 'success', title: 'Told', text: 'What happened.' };
      window.dispatchEvent(new CustomEvent('site:notice', { detail }));
    });
    const bright = async () => {
      const place = await evaluate(placeOf, '[popover]:popover-open [data-sonner-toast]');
      return place ? evaluate(brightness, await tab.screenshot(), ...place) : 0;
    };
    await expect.poll(bright).toBeGreaterThan(DIMMED);
  });

  test('the film plays', async () => {
    const { open, the, evaluate } = visitor();
    await open('/?variant=impact');
    await (await the('button', 'Play')).click();
    await expect
      .poll(() => evaluate(() => document.querySelector('video')?.currentTime ?? 0))
      .toBeGreaterThan(0.2);
    await (await the('button', 'Pause')).click();
    await the('button', 'Play');
  });
});

describe.each(ENGINES)('$name on a dark system', engine => {
  const visitor = visitorsOf(engine, 'dark');

  test(`the page starts dark, and its drawings ${engine.drawings}`, async () => {
    const shown = visitor();
    await shown.open('/');
    const { margin, drawing } = await look(shown, engine, 'dark-system');
    expect(margin).toBeLessThan(DARK);
    expect(drawing < DARK).toBe(engine.drawings === 'follow the theme');
  });
});

function background(): string {
  return getComputedStyle(document.body).backgroundColor;
}

async function look({ tab, evaluate }: Visitor, { name }: Engine, theme: string) {
  const [left, top, width, height] = await vi.waitFor(async () => {
    const place = await evaluate(placeOf, 'main header [data-state=there]');
    return place ?? Promise.reject(new Error('There is no drawing'));
  }, VISIBLE_TIMEOUT_MS);
  const picture = await tab.screenshot();
  mkdirSync(PICTURES, { recursive: true });
  writeFileSync(join(PICTURES, `home-${theme}-${name.toLowerCase()}.png`), picture, 'base64');
  // The middle leaves out the scene's surroundings.
  const middle = [left + width / 3, top + height / 3, width / 3, height / 3] as const;
  return {
    background: await evaluate(background),
    margin: await evaluate(brightness, picture, ...LEFT_MARGIN),
    drawing: await evaluate(brightness, picture, ...middle),
  };
}

/** Left, top, width, height. */
function placeOf(selector: string): [number, number, number, number] | null {
  const box = document.querySelector(selector)?.getBoundingClientRect();
  return box ? [box.x, box.y, box.width, box.height] : null;
}

/** Mean brightness, from 0 to 255. */
async function brightness(
  png: string,
  left: number,
  top: number,
  width: number,
  height: number,
): Promise<number> {
  const bytes = Uint8Array.from(atob(png), character => character.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes]));
  const context = document.createElement('canvas').getContext('2d');
  context?.drawImage(image, left, top, width, height, 0, 0, 300, 150);
  const { data = new Uint8ClampedArray() } = context?.getImageData(0, 0, 300, 150) ?? {};
  const colours = data.filter((_, at) => at % 4 < 3);
  return colours.reduce((sum, value) => sum + value, 0) / colours.length;
}
