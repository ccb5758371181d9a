import { describe, expect, test } from 'vitest';
import { SAMPLE_PATHS } from '../../../kit/testing/sample-paths.ts';
import { HEADINGS } from '../headings.ts';
import { ENGINES } from './engines.ts';
import { visitorsOf } from './visitor.ts';

describe.each(ENGINES)('$name', engine => {
  const visitor = visitorsOf(engine);

  test.each(SAMPLE_PATHS)('%s shows its heading and hydrates silently', async route => {
    const { open, the, evaluate } = visitor();
    await open(route);
    await the('heading', HEADINGS[route]);
    expect(await evaluate(() => document.querySelectorAll('main h1').length)).toBe(1);
    expect(await evaluate(() => document.fonts.status)).toBe('loaded');
  });

  test('a link changes the page with a view transition', async () => {
    const { open, the, evaluate, reads } = visitor();
    await open('/');
    const hasTransitions = await evaluate(() => {
      const start = document.startViewTransition;
      Object.assign(window, { transitions: 0, isSamePage: true });
      document.startViewTransition = function (change) {
        const transition = start.call(this, change);
        transition.finished.then(() => {
          Object.assign(window, { transitions: Reflect.get(window, 'transitions') + 1 });
        });
        return transition;
      };
      return typeof start === 'function';
    });
    expect(hasTransitions, `${engine.name} has view transitions`).toBe(true);

    await (await the('link', 'About')).click();
    await the('heading', 'Pioneering AI Security');
    await expect
      .poll(() => evaluate(() => Number(Reflect.get(window, 'transitions'))))
      .toBeGreaterThan(0);
    expect(await evaluate(() => 'isSamePage' in window && location.pathname)).toBe('/about');
    await evaluate(() => history.back());
    await reads('Your cameras already see it.');
    expect(await evaluate(() => 'isSamePage' in window && location.pathname)).toBe('/');
  });

  test('the proxy records errors of the page', async () => {
    const { open, evaluate, proxy } = visitor();
    await open('/about');
    await evaluate(() => {
      console.error('an error', 404);
      Promise.reject(new Error('a rejection'));
      queueMicrotask(() => {
        throw new Error('a failure');
      });
      document.body.append(Object.assign(new Image(), { src: '/no-such-picture.png' }));
      document.body.append(Object.assign(new Image(), { src: 'data:image/gif;base64,' }));
    });
    for (const words of [
      'an error 404',
      'a rejection',
      'a failure',
      '404 /no-such-picture.png',
      /Not loaded: .object HTMLImageElement/,
      /Forbidden by img-src data/,
    ]) {
      await expect.poll(() => proxy.errors).toContainEqual(expect.stringMatching(words));
    }
    proxy.errors.splice(0);
  });
});
