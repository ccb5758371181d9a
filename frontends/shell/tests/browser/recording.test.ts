import type { Locator, Page } from '@playwright/test';
import { expect, expectConsole, test } from '../../../kit/testing/playwright-fixtures.ts';

const MIN_TYPE_PX = 11;
/** The narrowest screen of each layout. */
const WIDTHS = [320, 640, 768, 1024];
const LENGTH_SECONDS = 3;
const END = `${LENGTH_SECONDS}`;

interface Label {
  words: string;
  typePx: number;
  isOutside: boolean;
  box: { left: number; top: number; right: number; bottom: number };
}

function slider(page: Page): Locator {
  return page.getByRole('slider', { name: 'Time of the recording' });
}

function status(page: Page): Locator {
  return page.getByText(/^cam-04/);
}

test('labels are legible and never overlap', async ({ page }) => {
  await page.goto('/');
  await expect(slider(page)).toHaveValue(END);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const moments = await labelsAtAllMoments(page);
    expect(Math.max(...moments.map(({ labels }) => labels.length))).toBeGreaterThan(2);
    for (const { seconds, labels } of moments) {
      const when = `after ${seconds} s, ${width} pixels wide`;
      for (const { words, typePx, isOutside } of labels) {
        expect(typePx).toBeGreaterThanOrEqual(MIN_TYPE_PX);
        expect(isOutside, `${words} leaves the picture ${when}`).toBe(false);
      }
      expect(overlapping(labels), when).toEqual([]);
    }
  }
});

// Of 390 × 844, Safari leaves 390 × 664 to the page.
for (const [width, height] of [
  [360, 640],
  [390, 664],
] as const) {
  test(`half the picture is in view at ${width} × ${height}`, async ({ page }) => {
    await page.setViewportSize({ width, height });
    await page.goto('/');
    const picture = page.locator('main header [data-state=there]');
    await expect(picture).toBeInViewport({ ratio: 0.5 });
  });
}

test.describe('with motion', () => {
  test.use({ contextOptions: { reducedMotion: 'no-preference' } });

  test('the recording plays once and stops at its end', async ({ page }) => {
    await page.clock.install();
    await page.goto('/');
    await expect(slider(page)).toBeVisible();
    await expect(async () => {
      await page.clock.runFor(100);
      expect(await isPlaying(page)).toBe(true);
    }).toPass({ intervals: [0] });
    await page.clock.runFor(4000);
    await expect(slider(page)).toHaveValue(END);
    expect(await isPlaying(page)).toBe(false);
    await page.getByRole('link', { name: 'About', exact: true }).first().click();
    await page.goBack();
    await expect(slider(page)).toHaveValue(END);
    await page.clock.runFor(1000);
    expect(await isPlaying(page)).toBe(false);
  });

  test('playback moves every frame, with two DOM changes at most', async ({ page }) => {
    await page.setViewportSize({ width: 390, height: 320 });
    await page.goto('/');
    await expect(slider(page)).toHaveValue(END);
    const { writes, places } = await watchItPlay(page);
    expect(writes).toBeLessThanOrEqual(2);
    expect(places).toBeGreaterThan(10);
  });

  test('the still picture is the largest contentful paint', async ({ page }) => {
    await page.setViewportSize({ width: 412, height: 839 });
    await page.goto('/');
    await expect(page.locator('img[src$="#empty"]')).toBeVisible();
    expect(await largestPaints(page)).toEqual([expect.stringMatching(/street\.\w+\.svg$/)]);
  });

  test('using the slider stops playback', async ({ page }) => {
    await page.goto('/');
    await slider(page).press('Home');
    await expect(slider(page)).toHaveValue('0');
    await page.evaluate(() => new Promise(done => requestAnimationFrame(() => done(undefined))));
    await expect(slider(page)).toHaveValue('0');
  });
});

test('with reduced motion the recording does not play', async ({ page }) => {
  await page.clock.install();
  await page.goto('/');
  await expect(slider(page)).toHaveValue(END);
  await page.clock.runFor(1500);
  expect(await isPlaying(page)).toBe(false);
  await expect(slider(page)).toHaveValue(END);
  await expect(status(page)).toHaveText('cam-04 · 21:34 · 3 alerts');
});

test('the slider works by keyboard and states its time', async ({ page }) => {
  await page.goto('/');
  await slider(page).focus();
  await page.keyboard.press('Home');
  await expect(status(page)).toHaveText('cam-04 · 21:02 · 0 alerts');
  await page.keyboard.press('ArrowRight');
  await expect(slider(page)).toHaveValue('0.03');
  await page.keyboard.press('End');
  await expect(slider(page)).toHaveAttribute(
    'aria-valuetext',
    '21:34, The van is back: staff are told',
  );
  const ring = page.locator('.timeline');
  expect(await ring.evaluate(box => getComputedStyle(box).outlineStyle)).toBe('solid');
  await page.getByRole('button', { name: /lingers/ }).press('Enter');
  await expect(status(page)).toHaveText('cam-04 · 21:14 · 1 alert');
});

test('the slider follows a dragging mouse', async ({ page }) => {
  await page.goto('/');
  const { x, y, width } = await placeOf(slider(page));
  await page.mouse.move(x + width - 8, y);
  await page.mouse.down();
  for (let part = 1; part >= 0.29; part -= 0.05) {
    await page.mouse.move(x + 8 + (width - 16) * part, y + 3);
  }
  await page.mouse.up();
  expect(Number(await slider(page).inputValue())).toBeCloseTo(0.3 * LENGTH_SECONDS, 1);
  await expect(page.getByText('person 0.97')).toBeVisible();
  await page.mouse.move(x, y - 300);
  await expect(page.getByText('person 0.97')).toBeVisible();
});

test.describe('on a touch screen', () => {
  test.use({ hasTouch: true, viewport: { width: 390, height: 844 } });

  test('the slider follows a finger and lets it scroll', async ({ page }) => {
    await page.goto('/');
    await slider(page).scrollIntoViewIfNeeded();
    const { x, y, width } = await placeOf(slider(page));
    const finger = await page.context().newCDPSession(page);
    const touch = (type: string, ...touchPoints: { x: number; y: number }[]) =>
      finger.send('Input.dispatchTouchEvent', { type, touchPoints } as never);
    await touch('touchStart', { x: x + width - 8, y });
    for (let part = 0.95; part >= 0.45; part -= 0.05) {
      await touch('touchMove', { x: x + 8 + (width - 16) * part, y });
    }
    await touch('touchEnd');
    await expect(status(page)).toHaveText(/ 21:1\d · 1 alert$/);
    expect(await slider(page).evaluate(input => getComputedStyle(input).touchAction)).toMatch(
      /pan-y|auto/,
    );
  });
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('the picture shows the end, the list the findings', async ({ page }) => {
    await page.goto('/');
    await expect(page.getByRole('img', { name: /^A shop’s door seen by a camera/ })).toBeVisible();
    await expect(page.getByText('unattended 0.91')).toBeVisible();
    await expect(status(page)).toHaveText('cam-04 · 21:34 · 3 alerts');
    const noticed = page.getByRole('list', { name: 'What the system noticed' });
    await expect(noticed.getByRole('listitem')).toHaveText([
      /^21:03\s*A van drives past$/,
      /^21:14\s*Someone lingers at the door$/,
      /^21:20\s*A parcel stays behind$/,
      /^21:32\s*The van is back: staff are told$/,
    ]);
    await expect(page.locator('.timeline')).toBeHidden();
  });
});

test('without its picture only the list shows', async ({ page, consoleMessages }) => {
  await page.route('**/assets/street.*.svg', route => route.abort());
  await page.goto('/');
  await expect(page.getByText('Image unavailable')).toBeVisible();
  await expect(page.getByText('unattended 0.91')).toBeHidden();
  await expect(slider(page)).toHaveCount(0);
  await expect(page.getByText('A parcel stays behind')).toBeVisible();
  expectConsole(consoleMessages, /Failed to load resource/);
});

async function placeOf(element: Locator) {
  await expect(element).toBeVisible();
  const { x, y, width, height } = (await element.boundingBox()) ?? {
    x: 0,
    y: 0,
    width: 0,
    height: 0,
  };
  return { x, y: y + height / 2, width };
}

function isPlaying(page: Page): Promise<boolean> {
  return slider(page).evaluate(
    element => (element.closest('figure')?.getAnimations({ subtree: true }).length ?? 0) > 0,
  );
}

/** Counts DOM changes, and positions of the handle, until playback ends. */
function watchItPlay(page: Page): Promise<{ writes: number; places: number }> {
  return slider(page).evaluate(async element => {
    const recording = element.closest('figure');
    const handle = recording?.querySelector('.timeline rect');
    const places = new Set<number>();
    let writes = 0;
    const observer = new MutationObserver(() => {
      writes += 1;
    });
    if (recording) {
      observer.observe(recording, {
        attributes: true,
        characterData: true,
        childList: true,
        subtree: true,
      });
    }
    recording?.scrollIntoView();
    const isPlaying = () => (recording?.getAnimations({ subtree: true }).length ?? 0) > 0;
    let hasBegun = false;
    while (!hasBegun || isPlaying()) {
      await new Promise(requestAnimationFrame);
      hasBegun ||= isPlaying();
      places.add(handle?.getBoundingClientRect().left ?? 0);
    }
    return { writes, places: places.size };
  });
}

function largestPaints(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const addresses: string[] = [];
    const observer = new PerformanceObserver(list => {
      const entries = list.getEntries() as (PerformanceEntry & { url: string })[];
      addresses.push(...entries.map(({ url }) => url).filter(Boolean));
    });
    observer.observe({ type: 'largest-contentful-paint', buffered: true });
    // Paints are reported some frames later.
    for (let frame = 0; frame < 20; frame += 1) {
      await new Promise(requestAnimationFrame);
    }
    return addresses;
  });
}

/** At each step of the slider. */
function labelsAtAllMoments(page: Page): Promise<{ seconds: number; labels: Label[] }[]> {
  return slider(page).evaluate(async element => {
    const input = element as HTMLInputElement;
    const setValue = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set;
    const picture = document.querySelector('.labels');
    const moments: { seconds: number; labels: Label[] }[] = [];
    for (let seconds = 0; seconds <= Number(input.max); seconds += Number(input.step)) {
      // Bypass React's setter, so that React treats the value as the visitor's input.
      setValue?.call(input, `${seconds}`);
      input.dispatchEvent(new Event('input', { bubbles: true }));
      await new Promise(requestAnimationFrame);
      const frame = picture?.getBoundingClientRect() ?? new DOMRect();
      const labels = Array.from(picture?.querySelectorAll('text') ?? [], text => {
        const { left, top, right, bottom } = (
          text.previousElementSibling ?? text
        ).getBoundingClientRect();
        const typePx = Number.parseFloat(getComputedStyle(text).fontSize);
        const words = text.getBoundingClientRect();
        const isOutside =
          left < frame.left ||
          top < frame.top ||
          right > frame.right ||
          bottom > frame.bottom ||
          words.right > right ||
          words.left < left;
        return { words: text.textContent, typePx, isOutside, box: { left, top, right, bottom } };
      });
      moments.push({ seconds, labels });
    }
    return moments;
  });
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
