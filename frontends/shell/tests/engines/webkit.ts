import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { WebDriver } from 'selenium-webdriver';
import { Builder, Capabilities, error, Key, WebElement } from 'selenium-webdriver';
import { freePort, waitUntilReady } from '../../../kit/testing/server-process.ts';
import type { Browser, ElementHandle, Engine, Scheme, Tab } from './engine.ts';
import { STEPS, VISIBLE_TIMEOUT_MS, WINDOW } from './engine.ts';

const DRIVER = '/usr/bin/WebKitWebDriver';
const SCREEN = '/usr/bin/Xvfb';
const START_TIMEOUT_MS = 20_000;
const KEYS = { Tab: Key.TAB, Enter: Key.ENTER, Escape: Key.ESCAPE, Space: Key.SPACE };

/** WebKitGTK's MiniBrowser has no headless mode, so it runs on a virtual screen. */
export const webkit: Engine = {
  name: 'WebKit',
  drawings: 'stay light',
  programs: { [DRIVER]: 'webkit2gtk-driver', [SCREEN]: 'xvfb' },
  start,
};

async function start(system: Scheme): Promise<Browser> {
  const screen = spawn(
    ...endingWithUs(SCREEN, '-displayfd', '3', '-nolisten', 'tcp', '-screen', '0', '1600x1200x24'),
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] },
  );
  const port = await freePort();
  const running = spawn(...endingWithUs(DRIVER, `--port=${port}`), {
    stdio: 'ignore',
    env: { ...process.env, DISPLAY: `:${await displayOf(screen)}` },
  });
  const server = await waitUntilReady(
    running,
    `http://127.0.0.1:${port}`,
    '/status',
    START_TIMEOUT_MS,
  );
  const driver = await new Builder()
    .usingServer(server.site)
    .withCapabilities(
      new Capabilities({
        browserName: 'MiniBrowser',
        'webkitgtk:browserOptions': {
          binary: miniBrowser(),
          args: ['--automation', ...(system === 'dark' ? ['--dark-mode'] : [])],
        },
      }),
    )
    .build();
  await driver
    .manage()
    .window()
    .setRect({ x: 0, y: 0, ...WINDOW });
  return {
    tab: async () => tabOf(driver),
    stop: async () => {
      await driver.quit();
      server.stop();
      screen.kill();
    },
  };
}

/** Makes a program end with the tests, even if they are killed. The browser ends with its screen. */
function endingWithUs(program: string, ...parameters: string[]): [string, string[]] {
  return ['setpriv', ['--pdeathsig', 'TERM', program, ...parameters]];
}

/** Debian installs MiniBrowser in a folder named after the machine's architecture. */
function miniBrowser(): string {
  const [found] = globSync('/usr/lib/*/webkit2gtk-4.*/MiniBrowser');
  if (!found) {
    throw new Error('There is no MiniBrowser, which comes with webkit2gtk-driver');
  }
  return found;
}

async function displayOf(screen: ChildProcess): Promise<string> {
  const told = screen.stdio[3] as Readable;
  const [line] = await once(told, 'data');
  return String(line).trim();
}

function tabOf(driver: WebDriver): Tab {
  const pointer = { x: 0, y: 0 };
  return {
    open: address => driver.get(address),
    evaluate: expression => driver.executeScript(`return ${expression}`),
    find: async expression => {
      const element = await driver.executeScript(`return ${expression}`);
      return element instanceof WebElement ? found(driver, element, pointer) : undefined;
    },
    press: key => driver.actions().sendKeys(KEYS[key]).perform(),
    type: words => driver.actions().sendKeys(words).perform(),
    async exposesFocus(role, name) {
      const focus = driver.switchTo().activeElement();
      return (await focus.getAriaRole()) === role && (await focus.getAccessibleName()) === name;
    },
    screenshot: () => driver.takeScreenshot(),
    // The next test reuses this tab. Stored data does not carry over, because each test has its own origin.
    close: () => driver.get('about:blank'),
  };
}

interface Point {
  x: number;
  y: number;
}

function found(driver: WebDriver, element: WebElement, pointer: Point): ElementHandle {
  const intoView = () =>
    driver.executeScript('arguments[0].scrollIntoView({ block: "center" })', element);
  return {
    click: () => onceItCan(() => element.click(), intoView),
    async hover() {
      const to: Point = await driver.executeScript(`return (${middleOf})(arguments[0])`, element);
      const path = driver.actions();
      for (const point of between(pointer, to)) {
        path.move({ ...point, duration: 10 });
      }
      await path.perform();
      Object.assign(pointer, to);
    },
    type: words => onceItCan(() => element.sendKeys(words), intoView),
    attach: file => element.sendKeys(file),
  };
}

/** Runs in the page. */
function middleOf(element: Element): Point {
  const { x, y, width, height } = element.getBoundingClientRect();
  return { x: Math.round(x + width / 2), y: Math.round(y + height / 2) };
}

/** The driver jumps to the end of a move, whatever its duration. */
function between(from: Point, to: Point): Point[] {
  return Array.from({ length: STEPS }, (_, step) => ({
    x: Math.round(from.x + ((to.x - from.x) * (step + 1)) / STEPS),
    y: Math.round(from.y + ((to.y - from.y) * (step + 1)) / STEPS),
  }));
}

/** Retries an action, because the driver neither waits for a moving element nor scrolls to it again. */
async function onceItCan(
  act: () => Promise<void>,
  intoView: () => Promise<unknown>,
): Promise<void> {
  const end = Date.now() + VISIBLE_TIMEOUT_MS;
  for (;;) {
    try {
      return await act();
    } catch (failure) {
      const isTooEarly =
        failure instanceof error.ElementNotInteractableError ||
        failure instanceof error.ElementClickInterceptedError;
      if (!isTooEarly || Date.now() > end) {
        throw failure;
      }
      await intoView();
    }
  }
}
