// @vitest-environment happy-dom
import { BrowserRouter } from '@site/kit/router.ts';
import { render, screen, within } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { fakeAnimations } from '../../../kit/testing/fake-animations.ts';
import { fakeIntersectionObserver } from '../../../kit/testing/fake-intersection-observer.ts';
import { advanceTimers } from '../../../kit/testing/fake-time.ts';

const loadRemote = vi.hoisted(() => vi.fn());
vi.mock('../federation.ts', () => ({ loadRemote }));

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetModules();
});

test('the teasers load near the viewport and reserve their space', async () => {
  fakeAnimations();
  const view = fakeIntersectionObserver();
  const module = { default: () => <h2>The blog’s own</h2>, version: 'ours' };
  loadRemote.mockImplementation(
    () => new Promise(resolve => setTimeout(() => resolve(module), 5_000)),
  );
  const { Home } = await import('./home.tsx');
  render(
    <BrowserRouter>
      <Home />
    </BrowserRouter>,
  );
  await advanceTimers(60_000);
  expect(loadRemote).not.toHaveBeenCalled();
  await view.show();
  expect(loadRemote).toHaveBeenCalledWith('blog/blog-teasers');
  await advanceTimers(4_000);
  const teasers = screen.getByRole('region', { name: 'Latest Insights' });
  expect(within(teasers).getByRole('status').textContent).toBe('Loading…');
  await advanceTimers(1_000);
  expect(screen.getByRole('heading', { name: 'The blog’s own' })).toBeTruthy();
  expect(screen.queryByRole('region', { name: 'Latest Insights' })).toBeNull();
});
