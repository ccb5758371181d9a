import { expect, expectConsole, test } from '../../../kit/testing/playwright-fixtures.ts';

test('the film plays, pauses, shows progress, resets at its end (section 4)', async ({ page }) => {
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

test('blocked sound mutes the film and shows native controls (section 4)', async ({ page }) => {
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

test('a failed film shows an error; Retry plays it', async ({ page, consoleMessages }) => {
  await page.route(/\/assets\/film\./, route => route.fulfill({ status: 404 }));
  await page.goto('/?variant=impact');
  await page.getByRole('button', { name: 'Play' }).click();
  await expect(page.getByRole('alert').getByText('The film did not load')).toBeVisible();
  await expect(page.getByRole('img', { name: /A shop at night/ })).toBeVisible();
  expectConsole(consoleMessages, /404/);
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Retry' }).click();
  const progress = page.getByRole('progressbar', { name: 'Film' });
  await expect.poll(async () => Number(await progress.getAttribute('value'))).toBeGreaterThan(0);
  await expect(page.getByRole('alert')).toBeHidden();
  await expect(page.getByRole('button', { name: 'Pause' })).toBeFocused();
});

test('the film is 600 pixels wide, 400 on small screens (section 2)', async ({ page }) => {
  await page.goto('/?variant=impact');
  for (const [width, film] of [
    [1280, { width: 600, height: 337.5 }],
    [640, { width: 400, height: 225 }],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    const box = await page.locator('video').boundingBox();
    // The frame's border is one pixel on each side.
    expect(Math.abs((box?.width ?? 0) - film.width)).toBeLessThanOrEqual(2);
    expect(Math.abs((box?.height ?? 0) - film.height)).toBeLessThanOrEqual(2);
  }
});
