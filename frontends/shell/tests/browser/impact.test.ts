import { expect, test } from '../../../kit/testing/browser.ts';

test('the other opening of the home page (section 1)', async ({ page }) => {
  await page.goto('/?variant=impact');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('AI. DATA. IMPACT.');
  await expect(page.getByText('TRANSFORMING INSIGHTS INTO ACTION')).toBeVisible();
  const features = page.getByRole('region', { name: 'Core Features' }).getByRole('listitem');
  await expect(features).toHaveCount(4);
  const targets = await features
    .getByRole('link')
    .evaluateAll(all => all.map(link => link.getAttribute('href')));
  expect(targets).toEqual([
    '/solutions#advanced-threat-detection',
    '/solutions#visual-surveillance-analytics',
    '/solutions#smart-alert-system',
    '/solutions#web-ai-dashboard',
  ]);
  const link = (name: string) => page.locator('main').getByRole('link', { name });
  await expect(link('Get a Demo')).toHaveAttribute('href', '/contact');
  await expect(link('Explore Solutions').first()).toHaveAttribute('href', '/solutions');
  await expect(
    page.getByText(/everyday data into actionable intelligence for safer, smarter management/),
  ).toBeVisible();
  await expect(link('Explore all features')).toHaveAttribute('href', '/solutions');
});

test('the film plays, pauses, shows how far it is, and is reset at its end (section 4)', async ({
  page,
}) => {
  await page.goto('/?variant=impact');
  const video = page.locator('video');
  const poster = page.getByRole('img', { name: /A shop at night/ });
  await expect(poster).toBeVisible();
  expect(await video.evaluate((film: HTMLVideoElement) => film.readyState)).toBe(0);

  await page.getByRole('button', { name: 'Play' }).click();
  await expect(poster).toBeHidden();
  const progress = page.getByRole('progressbar', { name: 'Film' });
  await expect.poll(async () => Number(await progress.getAttribute('value'))).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Pause' }).click();
  expect(await video.evaluate((film: HTMLVideoElement) => film.paused)).toBe(true);

  await page.getByRole('button', { name: 'Play' }).click();
  await video.evaluate((film: HTMLVideoElement) => {
    film.currentTime = film.duration - 0.3;
  });
  await expect(poster).toBeVisible();
  await expect(progress).toHaveAttribute('value', '0');
  await expect(page.getByRole('button', { name: 'Play' })).toBeVisible();
});

test('where sound is not allowed the film is muted and has the browser’s controls (section 4)', async ({
  page,
}) => {
  await page.addInitScript(() => {
    const play = HTMLMediaElement.prototype.play;
    HTMLMediaElement.prototype.play = function (this: HTMLMediaElement) {
      return this.muted
        ? play.call(this)
        : Promise.reject(new DOMException('not allowed', 'NotAllowedError'));
    };
  });
  await page.goto('/?variant=impact');
  await page.getByRole('button', { name: 'Play' }).click();
  const video = page.locator('video');
  await expect(video).toHaveAttribute('controls');
  expect(await video.evaluate((film: HTMLVideoElement) => film.muted)).toBe(true);
});

for (const [width, film] of [
  [1280, { width: 600, height: 337.5 }],
  [640, { width: 400, height: 225 }],
] as const) {
  test(`the film is ${film.width} pixels wide on a screen of ${width} (section 2)`, async ({
    page,
  }) => {
    await page.setViewportSize({ width, height: 900 });
    await page.goto('/?variant=impact');
    const box = await page.locator('video').boundingBox();
    // The frame's line is a pixel on each side.
    expect(Math.abs((box?.width ?? 0) - film.width)).toBeLessThanOrEqual(2);
    expect(Math.abs((box?.height ?? 0) - film.height)).toBeLessThanOrEqual(2);
  });
}
