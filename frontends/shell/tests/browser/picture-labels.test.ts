import type { Page } from '@playwright/test';
import { expect, test } from '../../../kit/testing/playwright-fixtures.ts';

// The recording's labels are tested in `recording.test.ts`.

const MIN_TYPE_PX = 11;
const WIDTHS = [320, 820, 1440];
/** Pictures of solutions, and of articles. */
const PICTURES = 6 + 3;

interface ShownPicture {
  address: string;
  width: number;
  height: number;
}

interface Label {
  words: string;
  typePx: number;
  box: { left: number; top: number; right: number; bottom: number };
}

test('picture labels are legible and never touch', async ({ page, context }) => {
  await page.goto('/');
  const drawing = await context.newPage();
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const pictures = await shownPictures(page);
    expect(pictures).toHaveLength(PICTURES);
    let read = 0;
    for (const picture of pictures) {
      const labels = await labelsOf(drawing, picture);
      read += labels.length;
      for (const { words, typePx } of labels) {
        expect(typePx, `${words} in ${picture.address}`).toBeGreaterThanOrEqual(MIN_TYPE_PX);
      }
      expect(touching(labels), picture.address).toEqual([]);
    }
    expect(read).toBeGreaterThan(PICTURES - 3);
  }
});

/** The drawings below the recording, at their shown size. */
async function shownPictures(page: Page): Promise<ShownPicture[]> {
  const boxes = page.locator('section [data-state]');
  await expect(async () => {
    for (const box of await boxes.all()) {
      await box.scrollIntoViewIfNeeded();
    }
    expect(await boxes.and(page.locator('[data-state=there]')).count()).toBe(PICTURES);
  }).toPass();
  return boxes.locator('img').evaluateAll(images =>
    images.map(image => {
      const { width, height } = image.getBoundingClientRect();
      return { address: (image as HTMLImageElement).src, width, height };
    }),
  );
}

/** Opens the file alone at its shown size, so that its media queries match. */
async function labelsOf(page: Page, { address, width, height }: ShownPicture): Promise<Label[]> {
  await page.setViewportSize({ width: Math.floor(width), height: Math.ceil(height) });
  await page.goto(address);
  return page.evaluate(
    ([width, height]) => {
      const svg = document.documentElement;
      svg.setAttribute('width', `${width}`);
      svg.setAttribute('height', `${height}`);
      return Array.from(svg.querySelectorAll<SVGTextElement>('.find text'))
        .filter(text => text.getBoundingClientRect().width > 0)
        .map(text => {
          const { left, top, right, bottom } = (
            text.previousElementSibling ?? text
          ).getBoundingClientRect();
          const typePx =
            Number.parseFloat(getComputedStyle(text).fontSize) * (text.getScreenCTM()?.a ?? 0);
          return { words: text.textContent, typePx, box: { left, top, right, bottom } };
        });
    },
    [width, height],
  );
}

function touching(labels: readonly Label[]): string[] {
  return labels.flatMap(({ words, box }, at) =>
    labels
      .slice(at + 1)
      .filter(({ box: other }) => box.left < other.right + 1 && other.left < box.right + 1)
      .filter(({ box: other }) => box.top < other.bottom + 1 && other.top < box.bottom + 1)
      .map(other => `${words} and ${other.words}`),
  );
}
