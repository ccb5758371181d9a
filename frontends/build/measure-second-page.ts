import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'puppeteer-core';
import puppeteer from 'puppeteer-core';
import { gateway } from '../kit/testing/gateway.ts';
import { CHROMIUM } from './chromium.ts';
import { dist } from './file-paths.ts';
import { CHANGES } from './route-change.ts';

// How soon the second page is painted after the click on a link of the header, in turns of one run: as the application
// changes it, with its code prefetched, and as a document of its own that the browser has rendered ahead (speculation
// rules): `cargo xtask measure second-page`. Both pages are served without their policy, which allows no rules, and with a
// script that keeps the time. Driven by Puppeteer, because Playwright forbids the browser to render ahead.

const TURNS = 5;
/** Time that a browser is given to prefetch, or to render ahead. */
const WAIT_MS = 3000;
/** Between the pointer's arrival at a link and the click, by a hand that knows what it wants. */
const HOVER_MS = 200;
const POLL_MS = 50;
const VIEWPORT = { width: 1440, height: 900 };
/** The whole browser, of Debian's package `chromium`: the shell without a window renders no page ahead. */
const BROWSER = process.env['CHROMIUM_WITH_WINDOW'] ?? '/usr/bin/chromium';

type Way = 'prefetched' | 'rendered ahead';
const WAYS: readonly Way[] = ['prefetched', 'rendered ahead'];

/** What a page noted of its change. */
interface Noted {
  ms: number;
  isRenderedAhead: boolean;
}

/** Of every page that the header leads to; browsers render up to ten of such pages ahead. */
const RULES = JSON.stringify({
  prerender: [{ where: { selector_matches: 'header nav a' }, eagerness: 'immediate' }],
});

const site = await gateway(dist);
const bytes: Record<Way, number> = { prefetched: 0, 'rendered ahead': 0 };
const noted: Record<Way, Noted[]> = { prefetched: [], 'rendered ahead': [] };
const servers = await Promise.all(WAYS.map(way => proxyOf(way)));
const browser = await puppeteer.launch({
  executablePath: BROWSER,
  args: [...(CHROMIUM.args ?? []), `--window-size=${VIEWPORT.width},${VIEWPORT.height}`],
  defaultViewport: null,
});
try {
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const { way, address } of servers) {
      noted[way].push(...(await visit(address)));
    }
  }
} finally {
  await browser.close();
  site.stop();
  for (const { close } of servers) {
    close();
  }
}
console.table(WAYS.map(rowOf));

function rowOf(way: Way) {
  const times = noted[way].map(({ ms }) => ms).toSorted((a, b) => a - b);
  return {
    way,
    clicks: times.length,
    'rendered ahead': noted[way].filter(({ isRenderedAhead }) => isRenderedAhead).length,
    'median ms': Math.round(times[Math.floor(times.length / 2)] ?? 0),
    'slowest ms': Math.round(times.at(-1) ?? 0),
    'kB a visit': Math.round(bytes[way] / TURNS / 1000),
  };
}

/** Follows the links of the header, one after the other. */
async function visit(address: string): Promise<Noted[]> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  // The page that is shown changes with each document; what notes and reads is a tab that stays.
  const reader = await context.newPage();
  await reader.goto(`${address}/robots.txt`);
  await page.bringToFront();
  await page.goto(address, { waitUntil: 'load' });
  const changes: Noted[] = [];
  await move(page, 200, 300);
  for (const [link] of CHANGES) {
    await sleep(WAIT_MS);
    changes.push(await follow(page, reader, link));
  }
  await context.close();
  return changes;
}

async function follow(page: Page, reader: Page, link: string): Promise<Noted> {
  const place = await reader.evaluate(name => localStorage.getItem(`place of ${name}`), link);
  const [x, y] = JSON.parse(place ?? 'null');
  await move(page, x, y);
  await sleep(HOVER_MS);
  await page.mouse.click(x, y);
  for (;;) {
    const text = await reader.evaluate(() => localStorage.getItem('noted'));
    if (text) {
      await reader.evaluate(() => localStorage.removeItem('noted'));
      await move(page, 200, 300);
      return JSON.parse(text);
    }
    await sleep(POLL_MS);
  }
}

function move(page: Page, x: number, y: number) {
  return page.mouse.move(x, y, { steps: 10 });
}

/** The site, as one way of changing pages needs it. */
async function proxyOf(way: Way) {
  const isAhead = way === 'rendered ahead';
  const added = `<script>(${keepTime})(${isAhead})</script>${
    isAhead ? `<script type="speculationrules">${RULES}</script>` : ''
  }`;
  const server = createServer((asked, answer) => {
    const headers = { ...asked.headers };
    const isDocument = headers.accept?.includes('text/html') ?? false;
    if (isDocument) {
      headers['accept-encoding'] = 'identity';
    }
    const forwarded = request(
      site.site + asked.url,
      { method: asked.method, headers },
      answered => {
        const parts: Buffer[] = [];
        answered.on('data', part => parts.push(part));
        answered.on('end', () => {
          const body = Buffer.concat(parts);
          const own = { ...answered.headers };
          delete own['content-security-policy'];
          delete own['content-length'];
          bytes[way] += body.length;
          answer.writeHead(answered.statusCode ?? 502, own);
          answer.end(isDocument ? body.toString().replace('<head>', `<head>${added}`) : body);
        });
      },
    );
    forwarded.on('error', () => answer.destroy());
    asked.pipe(forwarded);
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  const { port } = server.address() as AddressInfo;
  return { way, address: `http://localhost:${port}`, close: () => server.close() };
}

/** Runs in every page: notes how long after a click on a link of the header its page is painted. */
function keepTime(isAhead: boolean) {
  const now = () => performance.timeOrigin + performance.now();
  const note = () => {
    const clicked = Number(localStorage.getItem('clicked'));
    if (clicked > 0) {
      localStorage.removeItem('clicked');
      const [navigation] = performance.getEntriesByType('navigation');
      const { activationStart = 0 } = (navigation ?? {}) as { activationStart?: number };
      // A task after the frame's: it is painted.
      requestAnimationFrame(() =>
        setTimeout(() => {
          const isRenderedAhead = activationStart > 0;
          localStorage.setItem('noted', JSON.stringify({ ms: now() - clicked, isRenderedAhead }));
        }),
      );
    }
  };
  const heading = () => document.querySelector('main h1')?.textContent;
  const onceThere = (before?: string | null) => {
    const isThere = () => heading() && heading() !== before;
    if (isThere()) {
      note();
      return;
    }
    const observer = new MutationObserver(() => {
      if (isThere()) {
        observer.disconnect();
        note();
      }
    });
    observer.observe(document, { childList: true, subtree: true, characterData: true });
  };
  addEventListener(
    'click',
    event => {
      const link = event.target instanceof Element ? event.target.closest('header nav a') : null;
      if (link) {
        localStorage.setItem('clicked', `${now()}`);
        if (isAhead) {
          event.stopImmediatePropagation();
        } else {
          onceThere(heading());
        }
      }
    },
    true,
  );
  addEventListener('load', () => {
    for (const link of document.querySelectorAll('header nav a')) {
      const { left, top, width, height } = link.getBoundingClientRect();
      const place = JSON.stringify([left + Math.min(width / 2, 20), top + height / 2]);
      if (width > 0) {
        localStorage.setItem(`place of ${link.textContent}`, place);
      }
    }
  });
  if (isAhead) {
    const page = document as Document & { prerendering?: boolean };
    if (page.prerendering) {
      page.addEventListener('prerenderingchange', () => onceThere(), { once: true });
    } else {
      onceThere();
    }
  }
}
