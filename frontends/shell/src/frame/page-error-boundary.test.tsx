// @vitest-environment happy-dom
import { BrowserRouter, Link } from '@site/kit/router.ts';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PageErrorBoundary } from './page-error-boundary.tsx';

let isBroken = false;

function Page() {
  if (isBroken) {
    throw new Error('The map is not there');
  }
  return <h1>Contact</h1>;
}

beforeEach(() => {
  history.replaceState(null, '', '/contact');
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  isBroken = true;
  render(
    <BrowserRouter>
      <Link to="/about">About</Link>
      <Link to="/contact">Contact</Link>
      <PageErrorBoundary>
        <Page />
      </PageErrorBoundary>
    </BrowserRouter>,
  );
});

afterEach(() => {
  history.replaceState(null, '', '/');
});

test('a page that throws shows its error message (section 8)', () => {
  expect(screen.getByRole('heading').textContent).toBe('Unexpected Application Error!');
  expect(screen.getByText('The map is not there')).toBeTruthy();
});

test('the button reloads the page and keeps the fragment', async () => {
  history.replaceState(null, '', '/contact#map');
  const reload = vi.spyOn(location, 'reload').mockImplementation(() => undefined);
  await userEvent.click(screen.getByRole('button', { name: 'Load this page again' }));
  expect(reload).toHaveBeenCalledTimes(1);
  expect(location.hash).toBe('#map');
});

test('an error is cleared when the visitor leaves the page', async () => {
  isBroken = false;
  await userEvent.click(screen.getByRole('link', { name: 'About' }));
  await userEvent.click(screen.getByRole('link', { name: 'Contact' }));
  expect(screen.getByRole('heading').textContent).toBe('Contact');
});
