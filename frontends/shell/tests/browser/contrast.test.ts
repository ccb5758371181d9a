import axe from 'axe-core';
import { expect, test } from '../../../kit/testing/playwright-fixtures.ts';

// axe's own arithmetic, on what axe has no rule for: the ring around what has the focus (WCAG 2.2, 1.4.11). What colours
// can do at all, `kit/src/tokens.test.ts` computes.

interface Colour {
  alpha: number;
  parseString: (css: string) => void;
}

declare global {
  interface Window {
    /** As far as it is used here; its own types leave it out. */
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
/** More than any of these pages has. */
const MOST_STOPS = 120;

for (const route of ['/', '/contact', '/careers', '/blog']) {
  test(`whatever has the focus on ${route} has a ring of ${RING}:1`, async ({ page }) => {
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

/** The ring around what has the focus, in both themes; none where that is the page itself. */
function ringsOfFocus() {
  const { activeElement } = document;
  if (!activeElement || activeElement === document.body) {
    return [];
  }
  // What is chosen by its label has the ring there.
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
    // It is drawn beside the element, on the first surface behind it.
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
