// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { leaveHashLinksToBrowser } from './hash-links.ts';

/** A router's listener, added after ours. */
const heard = vi.fn();
let ours: EventListenerOrEventListenerObject;

beforeEach(() => {
  heard.mockReset();
  const listen = vi.spyOn(window, 'addEventListener');
  leaveHashLinksToBrowser();
  ours = listen.mock.lastCall?.[1] ?? heard;
  window.addEventListener('popstate', heard);
});

afterEach(() => {
  window.removeEventListener('popstate', ours);
  window.removeEventListener('popstate', heard);
  Reflect.deleteProperty(history, 'pushState');
  Reflect.deleteProperty(history, 'replaceState');
});

/** A navigation by the browser: following a hash link, or going back. */
function browse(address: string) {
  History.prototype.replaceState.call(history, null, '', address);
  window.dispatchEvent(new PopStateEvent('popstate'));
}

test('the router gets no events for hash links and back', () => {
  browse('/#methodology');
  browse('/');
  expect(heard).not.toHaveBeenCalled();
});

test('the router gets events for other pages, with any fragment', () => {
  browse('/about');
  browse('/?variant=impact#top');
  expect(heard).toHaveBeenCalledTimes(2);
});

test('the router gets a back event before its page renders', () => {
  history.pushState(null, '', '/about');
  browse('/');
  expect(heard).toHaveBeenCalledTimes(1);
});

test('replacing the query does not count as another page', () => {
  browse('/?newsletter=confirm');
  history.replaceState(null, '', '/');
  heard.mockReset();
  browse('/#methodology');
  expect(heard).not.toHaveBeenCalled();
});
