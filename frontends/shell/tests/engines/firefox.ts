import type { BrowserContext, Page, ElementHandle as PuppeteerElement } from 'puppeteer-core';
import puppeteer from 'puppeteer-core';
import type { Browser, ElementHandle, Engine, Scheme, Tab } from './engine.ts';
import { STEPS, WINDOW } from './engine.ts';

const FIREFOX = '/usr/bin/firefox-esr';

/** Firefox needs no driver for WebDriver BiDi. */
export const firefox: Engine = {
  name: 'Firefox',
  drawings: 'follow the theme',
  programs: { [FIREFOX]: 'firefox-esr' },
  start,
};

async function start(system: Scheme): Promise<Browser> {
  const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: FIREFOX,
    extraPrefsFirefox: { 'ui.systemUsesDarkTheme': system === 'dark' ? 1 : 0 },
  });
  return {
    async tab() {
      const context = await browser.createBrowserContext();
      const page = await context.newPage();
      await page.setViewport(WINDOW);
      return tabOf(page, context);
    },
    stop: () => browser.close(),
  };
}

function tabOf(page: Page, context: BrowserContext): Tab {
  return {
    open: async address => {
      await page.goto(address);
    },
    evaluate: expression => page.evaluate(expression),
    find: async expression => {
      const element = (await page.evaluateHandle(expression)).asElement();
      return element ? found(page, element as PuppeteerElement<HTMLInputElement>) : undefined;
    },
    press: key => page.keyboard.press(key === 'Space' ? ' ' : key),
    type: words => page.keyboard.type(words),
    async exposesFocus(role, name) {
      const told = await page.$$(`aria/${name}[role="${role}"]`);
      const are = told.map(element => element.evaluate(node => node === document.activeElement));
      return (await Promise.all(are)).includes(true);
    },
    screenshot: () => page.screenshot({ encoding: 'base64' }),
    close: () => context.close(),
  };
}

function found(page: Page, element: PuppeteerElement<HTMLInputElement>): ElementHandle {
  return {
    click: () => element.click(),
    async hover() {
      const { x, y } = await element.clickablePoint();
      await page.mouse.move(x, y, { steps: STEPS });
    },
    type: words => element.type(words),
    attach: file => element.uploadFile(file),
  };
}
