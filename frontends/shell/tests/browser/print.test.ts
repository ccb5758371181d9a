import type { Page } from '@playwright/test';
import { expect, test } from '../../../kit/testing/playwright-fixtures.ts';

/** What nobody needs on paper: what is pressed, filled in, moves, or leads around the site. */
const NOT_PRINTED =
  'section:has(form), nav, dialog, [popover], [data-variant], [data-share], noscript, script, [hidden], .print\\:hidden';

/** Frame and forms, and the places of pictures that have not come: they load when somebody scrolls there. */
const LEFT_OUT = `.site-header, .site-footer, [data-state=waiting], main :is(${NOT_PRINTED})`;

/** Pages that people print, and something of each that stands far below the first view or in what is folded up. */
const PRINTED = {
  '/blog/ai-advancements': 'ONVIF profiles',
  '/privacy': 'Contact',
  '/terms': 'Chennai',
  '/careers': 'Incident reviews without blame',
  '/contact': 'cameras',
  '/': 'Ongoing Excellence',
  '/?variant=impact': 'IMPACT',
};

// With motion, because then scripts hide what is to be revealed; in the dark, because paper is not.
test.use({ colorScheme: 'dark', contextOptions: { reducedMotion: 'no-preference' } });

for (const [route, words] of Object.entries(PRINTED)) {
  test(`${route} is printed whole, black on white`, async ({ page }) => {
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

test('on paper a link says where it leads, an anchor does not', async ({ page }) => {
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

test('a card that leads on says so on paper, too', async ({ page }) => {
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
          // What makes all of a card lead there would lie over its words.
          place: position,
          opacity,
          width,
        };
      }),
  );
}

test('a chosen filter and the page’s own entry are told apart where the system decides on colours', async ({
  page,
}) => {
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

/** Boxes, by what they say, that could end on one sheet and go on on another although they fit on one. */
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

/** All words of the page that are for paper: whether they can be seen, in which colour, on which but white. */
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
