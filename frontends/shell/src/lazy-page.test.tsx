// @vitest-environment happy-dom
import { BrowserRouter } from '@site/kit/router.ts';
import { act, render, screen } from '@testing-library/react';
import type { ComponentType } from 'react';
import { Suspense } from 'react';
import { beforeEach, expect, test, vi } from 'vitest';
import { pass } from '../../kit/testing/fake-time.ts';
import { ErrorScreen } from './frame/error-screen.tsx';
import { lazyPage } from './lazy-page.ts';

const ABOUT = { default: () => <h1>Pioneering AI Security</h1> };

beforeEach(() => {
  vi.useFakeTimers();
});

async function show(Page: ComponentType) {
  const site = (
    <BrowserRouter>
      <ErrorScreen>
        <Suspense fallback="On its way">
          <Page />
        </Suspense>
      </ErrorScreen>
    </BrowserRouter>
  );
  await act(async () => render(site));
}

test('a page is loaded when it is first shown', async () => {
  const load = vi.fn(async () => ABOUT);
  const { Page } = lazyPage(load);
  expect(load).not.toHaveBeenCalled();
  await show(Page);
  expect(screen.getByRole('heading').textContent).toBe('Pioneering AI Security');
});

test('a page that fails to be fetched ahead is fetched again when it is shown', async () => {
  const load = vi.fn().mockRejectedValueOnce(new Error('lost')).mockResolvedValue(ABOUT);
  const { Page, prefetch } = lazyPage(load);
  prefetch();
  await pass(0);
  await show(Page);
  expect(screen.getByRole('heading').textContent).toBe('Pioneering AI Security');
});

test('a page that does not come after three retries is an error with its message (section 8)', async () => {
  const complaints = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const load = vi.fn(() => Promise.reject(new Error('Loading chunk about failed.')));
  await show(lazyPage(load).Page);
  await pass(6_999);
  expect(screen.getByText('On its way')).toBeTruthy();
  await pass(1);
  expect(load).toHaveBeenCalledTimes(4);
  expect(screen.getByRole('heading').textContent).toBe('Unexpected Application Error!');
  expect(screen.getByText('Loading chunk about failed.')).toBeTruthy();
  expect(screen.getByRole('link', { name: 'Load this page again' })).toBeTruthy();
  expect(complaints).toHaveBeenCalled();
});
