import { expect, expectConsole, test } from '../../../kit/testing/playwright-fixtures.ts';

// Attacks that the Content Security Policy prevents.

test('a string becomes neither markup nor a script', async ({ page, consoleMessages }) => {
  await page.goto('/about');
  const outcomes = await page.evaluate(() => {
    const outcomeOf = (attack: () => void) => {
      try {
        attack();
        return 'taken';
      } catch (failure) {
        return (failure as Error).name;
      }
    };
    const set = (name: string, properties: object) => () =>
      Object.assign(document.createElement(name), properties);
    return [
      set('div', { innerHTML: '<img src="x">' }),
      set('script', { src: 'https://evil.example/assets/x.js' }),
      set('script', { src: '/api/openapi.json' }),
      set('script', { text: 'alert(1)' }),
      () => document.write('<b>'),
    ].map(outcomeOf);
  });
  expect(outcomes).toEqual(Array(5).fill('TypeError'));
  expectConsole(consoleMessages, /Trusted/);
});

test('an injected style has no effect', async ({ page, consoleMessages }) => {
  await page.goto('/about');
  const colour = await page.evaluate(() => {
    const style = document.createElement('style');
    style.textContent = 'h1 { color: rgb(1, 2, 3) }';
    document.head.append(style);
    const heading = document.querySelector('h1');
    heading?.setAttribute('style', 'color: rgb(1, 2, 3)');
    return heading && getComputedStyle(heading).color;
  });
  expect(colour).not.toBe('rgb(1, 2, 3)');
  expectConsole(consoleMessages, /style-src/);
});

test('a drawing opened alone keeps its styles', async ({ page, request }) => {
  const html = await (await request.get('/about')).text();
  const drawing = /src="([^"]+\.svg)"/.exec(html)?.[1] ?? 'missing';
  await page.goto(drawing, { waitUntil: 'commit' });
  const sheets = await page.evaluate(() =>
    Array.from(document.styleSheets, ({ cssRules }) => cssRules.length),
  );
  expect(sheets.some(rules => rules > 0)).toBe(true);
});
