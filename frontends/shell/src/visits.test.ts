// @vitest-environment happy-dom
import { renderHook } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';

const pageShown = vi.hoisted(() => vi.fn());
const countVisit = vi.hoisted(() => vi.fn(() => ({ pageShown })));
vi.mock('./visit-counter.ts', () => ({ countVisit }));
const interaction = vi.hoisted(() => ({ first: Promise.resolve() }));
vi.mock('./prefetch.ts', () => ({
  firstInteraction: () => interaction.first,
  idle: () => Promise.resolve(),
}));

beforeEach(() => {
  vi.resetModules();
  pageShown.mockClear();
  countVisit.mockClear();
});

/** What a page counts whose visitor goes from one address to the next, each with its page. */
async function pathsCounted(
  first: [page: string, path: string],
  ...then: [page: string, path: string][]
): Promise<unknown[]> {
  const { useVisitCounter } = await import('./visits.ts');
  const { rerender } = renderHook(shown => useVisitCounter(...shown), { initialProps: first });
  for (const shown of then) {
    rerender(shown);
  }
  // The code comes by an import.
  await vi.dynamicImportSettled();
  await new Promise(resolve => setTimeout(resolve));
  return pageShown.mock.calls.flat();
}

test('each page that is shown is counted once, by one counter', async () => {
  const counted = await pathsCounted(
    ['/', '/'],
    ['blog', '/blog'],
    ['blog', '/blog/category/trends'],
    ['/', '/'],
  );
  expect(counted).toEqual(['/', '/blog', '/']);
  expect(countVisit).toHaveBeenCalledOnce();
});

test.each([
  ['Global Privacy Control', { globalPrivacyControl: { value: true } }],
  ['Do Not Track', { doNotTrack: { value: '1' } }],
])('by %s a visitor objects, and nothing is loaded or counted', async (_, told) => {
  vi.stubGlobal('navigator', Object.create(navigator, told));
  expect(await pathsCounted(['/', '/'])).toEqual([]);
  expect(countVisit).not.toHaveBeenCalled();
});

test('a page that is prerendered is counted once it is seen', async () => {
  const prerendered = Object.assign(document, { prerendering: true });
  expect(await pathsCounted(['/', '/'])).toEqual([]);
  Object.assign(prerendered, { prerendering: false });
  document.dispatchEvent(new Event('prerenderingchange'));
  await vi.waitFor(() => expect(pageShown).toHaveBeenCalledWith('/'));
});

test('where the counter does not come the page goes on without', async () => {
  countVisit.mockImplementationOnce(() => {
    throw new Error('lost');
  });
  expect(await pathsCounted(['/', '/'], ['/about', '/about'])).toEqual([]);
});

test('who reads without a movement is counted after ten seconds', async () => {
  vi.useFakeTimers();
  interaction.first = new Promise(() => undefined);
  const { useVisitCounter } = await import('./visits.ts');
  renderHook(() => useVisitCounter('/', '/'));
  await vi.advanceTimersByTimeAsync(9_999);
  expect(countVisit).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  await vi.dynamicImportSettled();
  expect(pageShown).toHaveBeenCalledWith('/');
});
