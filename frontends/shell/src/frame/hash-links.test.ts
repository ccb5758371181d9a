// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { leaveHashLinksToBrowser } from './hash-links.ts';

/** What a router hears that listens after us. */
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

/** What the browser does by itself: a link within the page, or the way back. */
function browse(address: string) {
  History.prototype.replaceState.call(history, null, '', address);
  window.dispatchEvent(new PopStateEvent('popstate'));
}

test('of links within a page, and of the way back from them, the router hears nothing', () => {
  browse('/#methodology');
  browse('/');
  expect(heard).not.toHaveBeenCalled();
});

test('of another page the router hears, wherever on it the way leads', () => {
  browse('/about');
  browse('/?variant=impact#top');
  expect(heard).toHaveBeenCalledTimes(2);
});

test('who goes back before the router has shown its page is heard, too', () => {
  history.pushState(null, '', '/about');
  browse('/');
  expect(heard).toHaveBeenCalledTimes(1);
});

test('what is taken out of the address leaves the page the same', () => {
  browse('/?newsletter=confirm');
  history.replaceState(null, '', '/');
  heard.mockReset();
  browse('/#methodology');
  expect(heard).not.toHaveBeenCalled();
});
