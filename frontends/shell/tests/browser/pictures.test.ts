import { expect, test } from '../../../kit/testing/playwright-fixtures.ts';

test.describe(() => {
  test.use({ contextOptions: { reducedMotion: 'no-preference' } });

  test('pictures pulse, and load 200 pixels before the viewport (section 9)', async ({ page }) => {
    await page.setViewportSize({ width: 1280, height: 800 });
    const asked: string[] = [];
    page.on('request', request => asked.push(request.url()));
    await page.goto('/solutions', { waitUntil: 'networkidle' });
    const last = page.locator('#network-security [data-state]');
    await expect(last).toHaveAttribute('data-state', 'waiting');
    expect(await last.evaluate(box => getComputedStyle(box).animationName)).toBe('pulse');
    const isAsked = () => asked.some(url => url.includes('/network-security.'));

    const top = await last.evaluate(box => box.getBoundingClientRect().top + scrollY);
    await page.evaluate(y => scrollTo(0, y), top - 800 - 260);
    await expect(page.locator('#access-control [data-state]')).toHaveAttribute(
      'data-state',
      'there',
    );
    expect(isAsked()).toBe(false);
    await page.evaluate(y => scrollTo(0, y), top - 800 - 180);
    await expect.poll(isAsked).toBe(true);
    await expect(last).toHaveAttribute('data-state', 'there');
    await expect(last.locator('img')).toHaveJSProperty('complete', true);
  });
});

test('a failed picture shows a message (sections 4 and 8)', async ({ page, consoleMessages }) => {
  await page.route('**/assets/advanced-threat-detection.*', route => route.abort());
  await page.goto('/solutions');
  const box = page.locator('#advanced-threat-detection [data-state]');
  await expect(box).toHaveText('Image unavailable');
  await page.locator('#visual-surveillance-analytics').scrollIntoViewIfNeeded();
  await expect(page.locator('#visual-surveillance-analytics [data-state] img')).toBeVisible();
  expect(consoleMessages.splice(0).every(text => text.includes('Failed to load resource'))).toBe(
    true,
  );
});

test('pictures follow the visitor’s theme', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto('/');
  const picture = page.locator('main header [data-state=there]');
  const light = await picture.screenshot();
  await page.getByRole('button', { name: 'Dark theme' }).click();
  await page.mouse.move(0, 0);
  const brightness = (png: Buffer) =>
    page.evaluate(async source => {
      const bytes = Uint8Array.from(atob(source), character => character.charCodeAt(0));
      const image = await createImageBitmap(new Blob([bytes]));
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext('2d');
      context?.drawImage(image, 0, 0);
      const { data = new Uint8ClampedArray() } =
        context?.getImageData(0, 0, image.width, image.height) ?? {};
      return data.reduce((sum, value) => sum + value, 0) / data.length;
    }, png.toString('base64'));
  const dark = await picture.screenshot();
  expect(await brightness(light)).toBeGreaterThan(1.5 * (await brightness(dark)));
});
