import axe from 'axe-core';
import { expect, test } from '../../../kit/testing/playwright-fixtures.ts';

// axe has no rule for focus rings (WCAG 2.2, 1.4.11), so this test uses axe's colour functions.
// `kit/src/tokens.test.ts` covers the colours themselves.

interface Colour {
  alpha: number;
  parseString: (css: string) => void;
}

declare global {
  interface Window {
    /** axe's own types omit these. */
    axe: {
      commons: {
        color: {
          Color: new () => Colour;
          getContrast: (behind: Colour, before: Colour) => number;
        };
      };
    };
  }
}

const RING = 3;
/** More tab stops than any of these pages has. */
const MOST_STOPS = 120;

for (const route of ['/', '/contact', '/careers', '/blog']) {
  test(`focus rings on ${route} have a contrast of ${RING}:1`, async ({ page }) => {
    await page.goto(route);
    await page.evaluate(axe.source);
    const pale: unknown[] = [];
    let stops = 0;
    for (; stops < MOST_STOPS; stops += 1) {
      await page.keyboard.press('Tab');
      const rings = await page.evaluate(ringsOfFocus);
      if (rings.length === 0) {
        break;
      }
      pale.push(...rings.filter(({ contrast }) => contrast < RING));
    }
    expect(stops).toBeGreaterThan(10);
    expect(pale).toEqual([]);
  });
}

/** Focus ring in both themes. Empty if the focus is on the page itself. */
function ringsOfFocus() {
  const { activeElement } = document;
  if (!activeElement || activeElement === document.body) {
    return [];
  }
  // `peer` elements show the ring on their label.
  const ringed =
    activeElement.matches('.peer') && activeElement.nextElementSibling
      ? activeElement.nextElementSibling
      : activeElement;
  const { Color, getContrast } = window.axe.commons.color;
  const read = (css: string) => {
    const colour = new Color();
    colour.parseString(css);
    return colour;
  };
  return ['light', 'dark'].map(theme => {
    document.documentElement.classList.toggle('dark', theme === 'dark');
    // The ring is drawn on the first opaque background around the element.
    let surface = ringed.parentElement;
    while (surface && read(getComputedStyle(surface).backgroundColor).alpha < 1) {
      surface = surface.parentElement;
    }
    const behind = getComputedStyle(surface ?? document.body).backgroundColor;
    const { outlineColor, outlineStyle } = getComputedStyle(ringed);
    return {
      theme,
      element: ringed.outerHTML.slice(0, 100),
      contrast: outlineStyle === 'none' ? 0 : getContrast(read(behind), read(outlineColor)),
    };
  });
}
