// @vitest-environment happy-dom
import { readFileSync } from 'node:fs';
import { announceAccepted } from '@site/kit/accepted-event.ts';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { VisitCounter } from './visit-counter.ts';
import { countVisit } from './visit-counter.ts';

type Report = (metric: { id: string; value: number }) => void;

const measured = vi.hoisted(() => new Map<string, Report>());
vi.mock('web-vitals', () => ({
  onLCP: (report: Report) => measured.set('lcp', report),
  onINP: (report: Report) => measured.set('inp', report),
  onCLS: (report: Report) => measured.set('cls', report),
}));

const sent: { address: string; type: string; body: string }[] = [];
let visibility: DocumentVisibilityState;
let listening: AbortController;

beforeEach(() => {
  sent.length = 0;
  visibility = 'visible';
  vi.spyOn(document, 'visibilityState', 'get').mockImplementation(() => visibility);
  vi.stubGlobal(
    'Blob',
    class {
      parts: string[];
      type: string;
      constructor(parts: string[], { type }: { type: string }) {
        this.parts = parts;
        this.type = type;
      }
    },
  );
  navigator.sendBeacon = (address, data) => {
    const { parts, type } = data as unknown as { parts: string[]; type: string };
    sent.push({ address: String(address), type, body: parts.join('') });
    return true;
  };
  // A page has one counter for as long as it is open, and here each test has one of its own.
  listening = new AbortController();
  for (const target of [window, document]) {
    const add = target.addEventListener.bind(target);
    vi.spyOn(target, 'addEventListener').mockImplementation(
      (name: string, listener: EventListenerOrEventListenerObject) =>
        add(name, listener, { signal: listening.signal }),
    );
  }
});

afterEach(() => listening.abort());

function bodies(): unknown[] {
  return sent.map(({ body }) => JSON.parse(body));
}

function show(state: DocumentVisibilityState) {
  visibility = state;
  document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
}

/** A counter of a page that was opened by an address. */
function counterOf(entry: string): VisitCounter {
  const navigation = [{ name: new URL(entry, location.origin).href }];
  vi.spyOn(performance, 'getEntriesByType').mockReturnValue(
    navigation as unknown as PerformanceNavigationTiming[],
  );
  const counter = countVisit();
  counter.pageShown(new URL(entry, location.origin).pathname);
  return counter;
}

function fieldOf(action: string): HTMLInputElement {
  document.body.innerHTML = `<form action="${action}"><input name="email"></form>`;
  const field = document.querySelector('input');
  if (!field) {
    throw new Error('There is no field');
  }
  return field;
}

function type(field: Element, isTrusted = true) {
  const event = new Event('input', { bubbles: true });
  Object.defineProperty(event, 'isTrusted', { value: isTrusted });
  field.dispatchEvent(event);
}

test('a visit is one beacon, sent when the page is hidden, of kinds and figures alone', () => {
  const counter = counterOf('/solutions?utm_campaign=monsoon&utm_content=asha%40example.org');
  counter.pageShown('/services/traffic-public-safety');
  counter.pageShown('/contact');
  const field = fieldOf('/api/contact');
  type(field);
  type(field);
  announceAccepted('/api/contact');
  measured.get('lcp')?.({ id: 'l', value: 1234.56 });
  measured.get('cls')?.({ id: 'c', value: 0.012345 });
  expect(sent).toEqual([]);
  show('hidden');
  expect(sent.map(({ address, type }) => [address, type])).toEqual([
    ['/api/visits', 'application/json'],
  ]);
  expect(bodies()).toEqual([
    {
      campaign: 'monsoon',
      views: ['solutions', 'service', 'contact'],
      starts: ['contact'],
      ends: ['contact'],
      vitals: { page: 'solutions', lcp: 1235, cls: 0.012 },
    },
  ]);
});

test('nothing is told twice: not what was sent, nor a figure that changes afterwards', () => {
  counterOf('/');
  measured.get('cls')?.({ id: 'c', value: 0.01 });
  show('hidden');
  show('visible');
  measured.get('cls')?.({ id: 'c', value: 0.5 });
  show('hidden');
  expect(bodies()).toEqual([{ views: ['home'], vitals: { page: 'home', cls: 0.01 } }]);
  show('visible');
  measured.get('inp')?.({ id: 'i', value: 48 });
  show('hidden');
  expect(bodies()[1]).toEqual({ vitals: { page: 'home', inp: 48 } });
});

test('a page that comes back from the cache is shown once more, with figures of its own', () => {
  counterOf('/about');
  show('hidden');
  history.replaceState(null, '', '/terms');
  const restored = new Event('pageshow');
  Object.defineProperty(restored, 'persisted', { value: true });
  window.dispatchEvent(restored);
  measured.get('lcp')?.({ id: 'another', value: 20 });
  show('hidden');
  window.dispatchEvent(new Event('pageshow'));
  show('hidden');
  expect(bodies()).toEqual([
    { views: ['about'] },
    { views: ['terms'], vitals: { page: 'terms', lcp: 20 } },
  ]);
});

test('a form is begun by its visitor, not by a draft that is put back or by what is no form of ours', () => {
  counterOf('/');
  type(fieldOf('/api/newsletter'), false);
  type(fieldOf('/search'));
  type(document.body);
  announceAccepted('/api/newsletter/confirm');
  show('hidden');
  expect(bodies()).toEqual([{ views: ['home'] }]);
});

test('no form is accepted more often than it was begun, and a second message is begun anew', () => {
  counterOf('/contact');
  announceAccepted('/api/newsletter');
  const field = fieldOf('/api/contact');
  type(field);
  announceAccepted('/api/contact');
  type(field);
  show('hidden');
  expect(bodies()).toEqual([
    {
      views: ['contact'],
      starts: ['newsletter', 'contact', 'contact'],
      ends: ['newsletter', 'contact'],
    },
  ]);
});

test.each(['asha@example.org', 'x'.repeat(65), 'two words'])(
  'what is no name of a campaign is not sent (%j)',
  name => {
    counterOf(`/?utm_campaign=${encodeURIComponent(name)}`);
    show('hidden');
    expect(bodies()).toEqual([{ campaign: 'other', views: ['home'] }]);
  },
);

test('who goes through the whole site sends several beacons, none larger than the gateway takes, and no end of them', () => {
  const counter = counterOf(`/?utm_campaign=${'x'.repeat(64)}`);
  for (let page = 0; page < 1000; page += 1) {
    counter.pageShown('/newsletter/subscribed');
    announceAccepted('/api/career-application');
  }
  show('hidden');
  expect(sent.length).toBeGreaterThan(1);
  expect(sent.length).toBeLessThanOrEqual(30);
  const { components } = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));
  const fields = components.schemas.VisitBeacon.properties;
  for (const { body } of sent) {
    expect(body.length).toBeLessThanOrEqual(1024);
    const told = JSON.parse(body);
    for (const list of ['views', 'starts', 'ends']) {
      expect(told[list]?.length ?? 0, list).toBeLessThanOrEqual(fields[list].maxItems);
    }
  }
});
