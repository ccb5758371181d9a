import type { Page } from '@playwright/test';
import { expect, hydrated, test } from '../../../kit/testing/playwright-fixtures.ts';
import { SAMPLES } from '../../../kit/testing/sample-paths.ts';
import { translatePage } from '../../../kit/testing/translate-page.ts';

/** Functions that run in the page and change it, as extensions and translators do. */
const ALTERATIONS: Readonly<Record<string, () => void>> = {
  'puts an icon beside each field': () => {
    for (const field of document.querySelectorAll('main input, main textarea')) {
      field.after(document.createElement('com-password-icon'));
    }
  },
  'wraps each field': () => {
    for (const field of document.querySelectorAll('main input, main textarea')) {
      const wrapper = document.createElement('span');
      field.before(wrapper);
      wrapper.append(field);
    }
  },
  'puts a bar before the page': () => {
    document.querySelector('[data-site]')?.prepend(document.createElement('div'));
  },
  'puts a bar before what the page says': () => {
    document.querySelector('main')?.prepend(document.createElement('div'));
  },
  'puts a mark into the area of a front end': () => {
    document.querySelector('[data-area]')?.prepend(document.createElement('grammarly-mark'));
  },
  'translates the page': translatePage,
  'changes a word': () => {
    const copyright = document.querySelector('[data-site] > footer p');
    copyright?.replaceChildren('(c) somebody');
  },
};

/** Text for the form of each page. */
const FORMS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [SAMPLES.contact]: {
    name: 'Asha Rao',
    email: 'asha@example.com',
    message: 'Two shops,\nfourteen cameras.',
  },
  [SAMPLES.article]: { email: 'reader@example.com' },
  [SAMPLES.application]: { name: 'Ravi', phone: '+91 98765', position: 'Any', coverLetter: 'Half' },
  [SAMPLES.position]: { name: 'Ravi', position: 'Computer Vision', coverLetter: 'I count peop' },
};

for (const [route, fields] of Object.entries(FORMS)) {
  for (const [does, alter] of Object.entries(ALTERATIONS)) {
    test(`early input at ${route} stays when somebody ${does}`, async ({ page, pageErrors }) => {
      await page.setViewportSize({ width: 1280, height: 500 });
      const start = await openUnstarted(page, route);
      const shown = await recordShownText(page);
      await page.evaluate(alter);
      await enter(page, fields);
      const before = await page.evaluate(() => scrollY);
      expect(before).toBeGreaterThan(0);
      start();
      await hydrated(lastForm(page).locator('[name]').last());
      await page.keyboard.type('andmore');

      const last = Object.keys(fields).at(-1) ?? '';
      for (const [name, text] of Object.entries(fields)) {
        await expect(field(page, name)).toHaveValue(name === last ? `${text}andmore` : text);
      }
      await expect(field(page, last)).toBeFocused();
      if ('coverLetter' in fields) {
        await expect(lastForm(page).getByText('early.pdf')).toBeVisible();
      }
      expect(await page.evaluate(() => scrollY)).toBe(before);
      await expectNeverBlank(shown);
      expectHydrationErrors(pageErrors);
    });
  }
}

test('a page without its code keeps its HTML, takes input', async ({ page, pageErrors }) => {
  const start = await openUnstarted(page, SAMPLES.contact);
  const code = await holdBack(page, /\/assets\/contact\.\w+\.js/);
  const shown = await recordShownText(page);
  await page.evaluate(ALTERATIONS['puts a bar before the page'] ?? fail);
  await enter(page, { name: 'Asha' });
  start();
  await hydrated(page.getByRole('banner').first());
  await page.keyboard.type(' Rao');
  await expect(field(page, 'name')).toHaveValue('Asha Rao');
  code();
  await hydrated(lastForm(page));
  await expect(field(page, 'name')).toHaveValue('Asha Rao');
  await expect(field(page, 'name')).toBeFocused();
  await expectNeverBlank(shown);
  expectHydrationErrors(pageErrors);
});

test('an older draft fills only fields without early input', async ({ page, pageErrors }) => {
  await page.goto(SAMPLES.contact);
  await field(page, 'name').fill('Asha');
  await field(page, 'message').fill('Old words');
  // Open the page by URL, so that the browser restores no fields.
  await page.goto(SAMPLES.about);
  const start = await openUnstarted(page, SAMPLES.contact);
  await page.evaluate(ALTERATIONS['puts an icon beside each field'] ?? fail);
  await enter(page, { message: 'New words' });
  start();
  await hydrated(lastForm(page));
  await expect(field(page, 'message')).toHaveValue('New words');
  await expect(field(page, 'name')).toHaveValue('Asha');
  const draft = await page.evaluate(() => sessionStorage.getItem('draft:contact'));
  expect(JSON.parse(draft ?? '')).toMatchObject({ name: 'Asha', message: 'New words' });
  expectHydrationErrors(pageErrors);
});

test('early input does not return after it is sent', async ({ page, pageErrors }) => {
  await page.route('**/api/contact', route => route.fulfill({ json: { success: true } }));
  await page.clock.install();
  const start = await openUnstarted(page, SAMPLES.contact);
  await page.evaluate(ALTERATIONS['puts an icon beside each field'] ?? fail);
  await enter(page, FORMS[SAMPLES.contact] ?? {});
  start();
  await hydrated(lastForm(page));
  await page.getByRole('button', { name: 'Send Message' }).click();
  await expect(page.getByText('Message Sent Successfully!')).toBeVisible();
  await page.clock.runFor(5_000);
  await expect(field(page, 'message')).toHaveValue('');
  expectHydrationErrors(pageErrors);
});

function fail(): never {
  throw new Error('There is no such alteration');
}

/** The application starts when the returned function is called. */
async function openUnstarted(page: Page, route: string) {
  const start = await holdBack(page, /\/assets\/main\.\w+\.js/);
  await page.goto(route, { waitUntil: 'commit' });
  await page.waitForLoadState('load');
  return start;
}

async function holdBack(page: Page, files: RegExp): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(files, route => promise.then(() => route.continue()));
  return resolve;
}

function lastForm(page: Page) {
  return page.locator('main form').last();
}

function field(page: Page, name: string) {
  return lastForm(page).locator(`[name="${name}"]`);
}

/** Fills in the page's last form by keyboard. */
async function enter(page: Page, fields: Readonly<Record<string, string>>) {
  const picker = lastForm(page).locator('input[type=file]');
  if ((await picker.count()) > 0) {
    const buffer = Buffer.from('%PDF-1.7\n%%EOF');
    await picker.setInputFiles({ name: 'early.pdf', mimeType: 'application/pdf', buffer });
  }
  for (const [name, text] of Object.entries(fields)) {
    await field(page, name).fill('');
    await field(page, name).focus();
    await page.keyboard.insertText(text);
  }
}

/** Length of the page's text at each paint. */
async function recordShownText(page: Page): Promise<() => Promise<number[]>> {
  await page.evaluate(() => {
    const shown: number[] = Object.assign(window, { shown: [] }).shown;
    const note = () => {
      // biome-ignore lint/performance/useDomNodeTextContent: invisible text does not count
      shown.push(document.querySelector('main')?.innerText.length ?? 0);
      requestAnimationFrame(note);
    };
    requestAnimationFrame(note);
  });
  return () => page.evaluate(() => ('shown' in window ? (window.shown as number[]) : []));
}

async function expectNeverBlank(shown: () => Promise<number[]>) {
  const [first = 0, ...later] = await shown();
  expect(first).toBeGreaterThan(100);
  expect(Math.min(...later)).toBeGreaterThan(first / 2);
}

/** React reports a hydration error (418), and nothing else fails. */
function expectHydrationErrors(pageErrors: string[]) {
  const errors = pageErrors.splice(0);
  expect(errors).not.toEqual([]);
  for (const error of errors) {
    expect(error).toContain('#418');
  }
}
