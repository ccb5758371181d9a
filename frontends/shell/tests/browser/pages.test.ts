import type { Page } from '@playwright/test';
import { VIEWPORT_HEIGHT_PX, VIEWPORT_WIDTHS_PX } from '../../../kit/testing/accessibility.ts';
import {
  expect,
  expectAccessible,
  expectFits,
  hydrated,
  test,
} from '../../../kit/testing/playwright-fixtures.ts';
import { ACCEPTED, NOT_FOUND, SAMPLE_PATHS, SAMPLES } from '../../../kit/testing/sample-paths.ts';
import { pathsIn } from '../../../kit/testing/sitemap.ts';
import { HEADINGS } from '../headings.ts';

for (const route of [...SAMPLE_PATHS, ...ACCEPTED, SAMPLES.notFound]) {
  test(`${route} hydrates silently, passes axe, fits phones and fingers`, async ({
    page,
    consoleMessages,
  }) => {
    await page.setViewportSize({ width: VIEWPORT_WIDTHS_PX.desktop, height: VIEWPORT_HEIGHT_PX });
    await page.goto(route);
    await hydrated(page.locator('main h1'));
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(HEADINGS[route]);
    const { served, shown } = await page.evaluate(headsOf);
    expect(shown, 'what machines read of it').toEqual(served);
    await expectAccessible(page);
    await expectFits(page, 320, 640);
    // A desktop of 1280 by 800 at 200 % zoom.
    await expectFits(page, 640, 400);
    for (const width of [VIEWPORT_WIDTHS_PX.phone, 1024]) {
      expect(await smallTargets(page, width)).toEqual([]);
    }
    expectNothingBut404(consoleMessages);
  });
}

test('every other page hydrates silently and fits 320 pixels', async ({
  page,
  request,
  consoleMessages,
}) => {
  test.slow();
  const known: readonly string[] = SAMPLE_PATHS;
  const mapped = pathsIn(await (await request.get('/sitemap.xml')).text());
  const others = mapped.filter(path => !known.includes(path));
  expect(others.length).toBeGreaterThan(10);
  await page.setViewportSize({ width: 320, height: 640 });
  for (const [route, heading] of [
    ...others.map(path => [path, /\w/] as const),
    ...NOT_FOUND.map(path => [path, HEADINGS[path]] as const),
  ]) {
    await page.goto(route);
    await hydrated(page.locator('main h1'));
    await expect(page.getByRole('heading', { level: 1 }), route).toHaveText(heading);
    await expectFits(page, 320, 640);
  }
  expectNothingBut404(consoleMessages);
});

test('the 404 page links home and logs its path', async ({ page, consoleMessages }) => {
  await page.goto('/no-such-page');
  await page.getByRole('link', { name: 'Return to Home' }).click();
  await expect(page).toHaveURL('/');
  expect(consoleMessages.splice(0).join()).toContain('/no-such-page');
});

/** Metadata as served, which tests of the built site check, and as React shows it. */
async function headsOf() {
  const wordsOf = (page: Document | null) =>
    Array.from(
      page?.head.querySelectorAll('title, meta[name], meta[property], link[rel=canonical]') ?? [],
      ({ outerHTML }) => outerHTML,
    ).toSorted();
  // The Content Security Policy forbids parsing a string.
  const request = new XMLHttpRequest();
  request.open('GET', location.href);
  request.responseType = 'document';
  request.send();
  await new Promise(done => {
    request.onloadend = done;
  });
  return { served: wordsOf(request.responseXML), shown: wordsOf(document) };
}

function expectNothingBut404(consoleMessages: string[]) {
  const others = consoleMessages
    .splice(0)
    .filter(text => !/^404: there is no page|status of 404/.test(text));
  expect(others).toEqual([]);
}

/**
 * Controls smaller than 44 pixels. Those with text may be narrower (24 pixels). Links within a sentence may
 * have any size (WCAG 2.2, 2.5.8).
 */
async function smallTargets(page: Page, width: number): Promise<string[]> {
  await page.setViewportSize({ width, height: 844 });
  return page
    .locator('a[href], button, summary, input:not([type=file]), textarea')
    .evaluateAll(all => {
      const isInSentence = (element: Element) =>
        getComputedStyle(element).display === 'inline' &&
        element.closest('p, dd, li')?.textContent.trim() !== element.textContent.trim();
      return all
        .filter(element => element.checkVisibility({ visibilityProperty: true }))
        .filter(element => !isInSentence(element))
        .map(element => ({ element, box: element.getBoundingClientRect() }))
        .filter(({ element, box }) => {
          const isWord = element.matches('a, button') && /\w/.test(element.textContent);
          return box.width > 1 && (box.height < 44 || box.width < (isWord ? 24 : 44));
        })
        .map(({ element, box }) => `${element.outerHTML.slice(0, 120)} ${box.width}×${box.height}`);
    });
}
