// @vitest-environment happy-dom
import { render, screen, within } from '@testing-library/react';
import { renderToString } from 'react-dom/server';
import { beforeEach, expect, test, vi } from 'vitest';
import { advanceTimers } from '../../../kit/testing/fake-time.ts';
import type { FakeXhr } from '../../../kit/testing/fake-xhr.ts';
import { fakeXhr } from '../../../kit/testing/fake-xhr.ts';
import { loseFocus } from '../../../kit/testing/lose-focus.ts';
import { setupUser } from '../../../kit/testing/setup-user.ts';
import { NewsletterDialog } from './newsletter-dialog.tsx';

const FAILED = 'This did not work. Try again in a moment.';

let xhr: FakeXhr;

beforeEach(() => {
  vi.useFakeTimers();
  xhr = fakeXhr();
});

function open(search: string) {
  history.replaceState(null, '', `/${search}`);
  render(<NewsletterDialog />);
}

function press(name: string) {
  const dialog = screen.getByRole('dialog');
  return setupUser().click(within(dialog).getAllByRole('button', { name }).at(-1) ?? dialog);
}

test.each([
  ['confirm', 'Confirm your subscription', 'Confirm', 'Your subscription is confirmed'],
  ['unsubscribe', 'Unsubscribe', 'Unsubscribe', 'You are unsubscribed.'],
])('the link to %s asks, sends its token, shows results', async (action, title, button, done) => {
  open(`?newsletter=${action}&token=a+token`);
  const dialog = screen.getByRole('dialog', { name: title });
  expect(xhr.sent).toEqual([]);
  expect(document.activeElement?.textContent).toBe(button);
  await press(button);
  expect(xhr.last().path).toBe(`/api/newsletter/${action}`);
  expect(JSON.parse(String(xhr.last().body))).toEqual({ token: 'a token' });
  const sending = within(dialog).getByRole<HTMLButtonElement>('button', { name: 'Sending...' });
  expect(sending.disabled).toBe(true);
  loseFocus();
  await xhr.answer(200, { success: true });
  const close = within(dialog).getAllByRole('button', { name: 'Close' }).at(-1);
  expect(document.activeElement).toBe(close);
  expect(within(dialog).getByRole('status').textContent).toContain(done);
  await press('Close');
  expect(screen.queryByRole('dialog')).toBeNull();
  expect(location.search).toBe('');
});

test('closing the dialog sends nothing and clears the URL', async () => {
  open('?newsletter=confirm&token=unused');
  await setupUser().click(screen.getByRole('button', { name: 'Close' }));
  expect(screen.queryByRole('dialog')).toBeNull();
  expect(location.href).toMatch(/\/$/);
  expect(xhr.sent).toEqual([]);
});

test('a forged link shows an error and can be retried', async () => {
  open('?newsletter=confirm&token=forged');
  await press('Confirm');
  await xhr.answer(400, { success: false, error: 'This link is not valid.' });
  expect(screen.getByRole('alert').textContent).toBe('This link is not valid.');
  await press('Confirm');
  expect(xhr.sent).toHaveLength(2);
  expect(screen.queryByRole('alert')).toBeNull();
});

test('an unreachable server is tried four times before the error', async () => {
  open('?newsletter=unsubscribe&token=lost');
  await press('Unsubscribe');
  for (const wait of [1000, 2000, 4000]) {
    await xhr.breakOff();
    await advanceTimers(wait);
  }
  await xhr.breakOff();
  expect(xhr.sent).toHaveLength(4);
  expect(screen.getByRole('alert').textContent).toBe(FAILED);
});

test.each(['', '?newsletter=confirm', '?token=alone', '?newsletter=toString&token=any'])(
  'other URLs open no dialog: "%s"',
  search => {
    open(search);
    expect(screen.queryByRole('dialog')).toBeNull();
  },
);

test('the dialog is not prerendered', () => {
  history.replaceState(null, '', '/?newsletter=confirm&token=any');
  expect(renderToString(<NewsletterDialog />)).toBe('');
});
