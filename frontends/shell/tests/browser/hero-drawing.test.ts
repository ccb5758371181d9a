import type { Page } from '@playwright/test';
import { expect, test } from '../../../kit/testing/playwright-fixtures.ts';

// The home page's drawing is read at a glance: on a phone, too.

const MIN_TYPE_PX = 11;
/** From the narrowest phone on, with both sides of each width at which the layout changes. */
const WIDTHS = [320, 390, 639, 640, 767, 768, 1023, 1024, 1440];
/** When labels are compared, in seconds: the longest way there and back takes 22. */
const MOMENTS = Array.from({ length: 45 }, (_, at) => 2 + at / 2);

interface Label {
  words: string;
  typePx: number;
  box: { left: number; top: number; right: number; bottom: number };
}

test.use({ contextOptions: { reducedMotion: 'no-preference' } });

for (const width of WIDTHS) {
  test(`labels are read and never overlap on a screen of ${width} pixels`, async ({ page }) => {
    await page.setViewportSize({ width, height: 900 });
    await page.goto('/');
    const shown = await page.locator('main header img').evaluate((image: HTMLImageElement) => ({
      src: image.currentSrc,
      width: image.clientWidth,
    }));
    await page.goto(shown.src, { waitUntil: 'commit' });
    await expect(page.locator('svg')).toBeVisible();
    for (const moment of MOMENTS) {
      const labels = await labelsAt(page, moment, shown.width);
      expect(labels.length).toBeGreaterThan(3);
      expect(Math.min(...labels.map(({ typePx }) => typePx))).toBeGreaterThanOrEqual(MIN_TYPE_PX);
      expect(overlapping(labels), `after ${moment} s`).toEqual([]);
    }
  });
}

/** The labels of the drawing that is open, at a moment, as large as where it is shown this wide. */
function labelsAt(page: Page, seconds: number, shownWidth: number): Promise<Label[]> {
  return page.evaluate(
    ({ seconds, shownWidth }) => {
      for (const animation of document.getAnimations()) {
        animation.pause();
        animation.currentTime = seconds * 1000;
      }
      const drawing = document.documentElement as unknown as SVGSVGElement;
      const scale = shownWidth / drawing.viewBox.baseVal.width;
      return Array.from(document.querySelectorAll('text'), text => {
        const frame = text.closest('.find') ? (text.previousElementSibling ?? text) : text;
        const { left, top, right, bottom } = frame.getBoundingClientRect();
        return {
          words: text.textContent,
          typePx: Number.parseFloat(getComputedStyle(text).fontSize) * scale,
          box: { left, top, right, bottom },
        };
      });
    },
    { seconds, shownWidth },
  );
}

function overlapping(labels: readonly Label[]): string[] {
  return labels.flatMap(({ words, box }, at) =>
    labels
      .slice(at + 1)
      .filter(({ box: other }) => box.left < other.right && other.left < box.right)
      .filter(({ box: other }) => box.top < other.bottom && other.top < box.bottom)
      .map(other => `${words} and ${other.words}`),
  );
}
