import type { Page } from '@playwright/test';
import { expect, test } from '../../../kit/testing/playwright-fixtures.ts';

/** Controls, forms, animations and navigation. */
const NOT_PRINTED =
  'section:has(form), nav, dialog, [popover], [data-variant], [data-share], noscript, script, [hidden], .print\\:hidden';

/** `NOT_PRINTED`, the frame, and placeholders of pictures that load on scroll. */
const LEFT_OUT = `.site-header, .site-footer, [data-state=waiting], main :is(${NOT_PRINTED})`;

/** Each page has these words far below the first view, or in a folded part. */
const PRINTED = {
  '/blog/ai-advancements': 'ONVIF profiles',
  '/privacy': 'Contact',
  '/terms': 'Chennai',
  '/careers': 'Incident reviews without blame',
  '/contact': 'cameras',
  '/': 'Ongoing Excellence',
  '/?variant=impact': 'IMPACT',
};

// With motion, scripts hide elements before they are revealed. The dark theme must not reach the paper.
test.use({ colorScheme: 'dark', contextOptions: { reducedMotion: 'no-preference' } });

for (const [route, words] of Object.entries(PRINTED)) {
  test(`${route} prints completely, black on white`, async ({ page }) => {
    await page.goto(route);
    await page.emulateMedia({ media: 'print' });
    const texts = await page.evaluate(printedTexts, NOT_PRINTED);
    expect(texts.map(({ text }) => text).join(' ')).toContain(words);
    expect(texts.filter(({ isVisible }) => !isVisible)).toEqual([]);
    expect(texts.filter(({ ink, surfaces }) => ink !== BLACK || surfaces.length > 0)).toEqual([]);
    expect(await page.locator(LEFT_OUT).filter({ visible: true }).all()).toEqual([]);
    expect(await page.evaluate(splitBoxes)).toEqual([]);
  });
}

test('printed links show their URL, anchors do not', async ({ page }) => {
  await page.goto('/blog/ai-advancements');
  await page.emulateMedia({ media: 'print' });
  const links = await linksOf(page);
  const saying = links.filter(({ href }) => !href.startsWith('#'));
  expect(saying.some(({ href }) => href.startsWith('https://'))).toBe(true);
  expect(saying.some(({ href }) => href.startsWith('/'))).toBe(true);
  for (const { href, says, place } of saying) {
    expect(place, href).toBe('static');
    const site = href.startsWith('/') ? 'https://oculant.example' : '';
    expect(says.replaceAll('" "', '')).toBe(`"\u00a0(${site}${href})"`);
  }
  for (const { href, says } of links.filter(({ href }) => href.startsWith('#'))) {
    expect(says, href).toBe('none');
  }
});

test('printed cards show their URL', async ({ page }) => {
  await page.goto('/?variant=impact');
  await page.emulateMedia({ media: 'print' });
  const cards = (await linksOf(page)).filter(({ isCard }) => isCard);
  expect(cards.length).toBeGreaterThan(0);
  for (const { href, opacity, width } of cards) {
    expect([opacity, width], href).toEqual(['1', 'auto']);
  }
});

function linksOf(page: Page) {
  return page.locator('main a[href]').evaluateAll(all =>
    all
      .filter(link => link.checkVisibility())
      .map(link => {
        const { content, position, opacity, width } = getComputedStyle(link, '::after');
        return {
          href: link.getAttribute('href') ?? '',
          isCard: link.matches('.card-seen'),
          says: content,
          // With a position, the URL of a card's link would cover the card's text.
          place: position,
          opacity,
          width,
        };
      }),
  );
}

test('forced colours distinguish selected filters and the current page', async ({ page }) => {
  await page.emulateMedia({ forcedColors: 'active' });
  for (const route of ['/blog', '/careers']) {
    await page.goto(route);
    const chosen = await coloursOf(page, 'main [data-variant=selected]');
    const other = await coloursOf(page, 'main [data-variant=secondary]');
    expect(chosen.surface, route).not.toBe(other.surface);
    expect(chosen.ink, route).not.toBe(chosen.surface);
    expect(other.line, route).toBe('solid');
  }
  const current = await coloursOf(page, '.site-header [aria-current=page]');
  const other = await coloursOf(page, '.site-header nav a:not([aria-current])');
  expect(current.surface).not.toBe(other.surface);
});

const BLACK = 'rgb(0, 0, 0)';

function coloursOf(page: Page, selector: string) {
  return page
    .locator(selector)
    .first()
    .evaluate(element => {
      const { backgroundColor, color, borderTopStyle } = getComputedStyle(element);
      return { surface: backgroundColor, ink: color, line: borderTopStyle };
    });
}

/** Boxes that a page break could split although they fit on one sheet. */
function splitBoxes() {
  const boxes = Array.from(document.querySelectorAll<HTMLElement>('main *')).filter(box => {
    const { borderLeftWidth, borderRightWidth } = getComputedStyle(box);
    const isBox = borderLeftWidth !== '0px' && borderRightWidth !== '0px';
    return isBox && box.checkVisibility() && box.offsetHeight < 700;
  });
  const isSplit = (box: Element | null): boolean =>
    !box || (getComputedStyle(box).breakInside !== 'avoid' && isSplit(box.parentElement));
  return boxes.filter(isSplit).map(({ textContent }) => textContent);
}

/** `surfaces` are all backgrounds that are not white. */
function printedTexts(notPrinted: string) {
  const walker = document.createTreeWalker(document.querySelector('main') ?? document, 4);
  const texts: { text: string; isVisible: boolean; ink: string; surfaces: string[] }[] = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.textContent?.trim();
    const element = node.parentElement;
    if (text && element && !element.closest(notPrinted)) {
      const surfaces: string[] = [];
      for (let at: Element | null = element; at; at = at.parentElement) {
        const { backgroundColor } = getComputedStyle(at);
        if (!['rgba(0, 0, 0, 0)', 'rgb(255, 255, 255)'].includes(backgroundColor)) {
          surfaces.push(backgroundColor);
        }
      }
      texts.push({
        text,
        isVisible: element.checkVisibility({
          opacityProperty: true,
          visibilityProperty: true,
          contentVisibilityAuto: true,
        }),
        ink: getComputedStyle(element).color,
        surfaces,
      });
    }
  }
  return texts;
}
