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

for (const theme of ['light', 'dark'] as const) {
  test.describe(`in the ${theme} theme`, () => {
    test.use({ colorScheme: theme });

    for (const route of ['/', '/contact', '/careers', '/blog']) {
      test(`whatever has the focus on ${route} has a ring of ${RING}:1`, async ({ page }) => {
        await page.goto(route);
        await page.evaluate(axe.source);
        const pale: unknown[] = [];
        let stops = 0;
        for (; stops < MOST_STOPS; stops += 1) {
          await page.keyboard.press('Tab');
          const ring = await page.evaluate(ringOfFocus);
          if (!ring) {
            break;
          }
          if (ring.contrast < RING) {
            pale.push(ring);
          }
        }
        expect(stops).toBeGreaterThan(10);
        expect(pale).toEqual([]);
      });
    }
  });
}

/** The ring around what has the focus; nothing where that is the page itself. */
function ringOfFocus() {
  const { activeElement } = document;
  if (!activeElement || activeElement === document.body) {
    return null;
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
  // It is drawn beside the element, on the first surface behind it.
  let surface = ringed.parentElement;
  while (surface && read(getComputedStyle(surface).backgroundColor).alpha < 1) {
    surface = surface.parentElement;
  }
  const behind = getComputedStyle(surface ?? document.body).backgroundColor;
  const { outlineColor, outlineStyle } = getComputedStyle(ringed);
  return {
    element: ringed.outerHTML.slice(0, 100),
    contrast: outlineStyle === 'none' ? 0 : getContrast(read(behind), read(outlineColor)),
  };
}
