// @vitest-environment happy-dom
import { fireEvent, render, screen } from '@testing-library/react';
import { renderToString } from 'react-dom/server';
import { beforeEach, expect, test, vi } from 'vitest';
import { advanceTimers } from '../testing/fake-time.ts';
import type { FakeXhr } from '../testing/fake-xhr.ts';
import { fakeXhr } from '../testing/fake-xhr.ts';
import { loseFocus } from '../testing/lose-focus.ts';
import { setupUser } from '../testing/setup-user.ts';
import { NewsletterForm } from './newsletter-form.tsx';

const THANKS =
  'Thank you for subscribing!Check your inbox: it counts once you press the link in our mail.';
const FAILED = 'Subscription failed. Try again.';

let xhr: FakeXhr;

beforeEach(() => {
  vi.useFakeTimers();
  xhr = fakeXhr();
});

async function signUp(email: string) {
  fireEvent.input(screen.getByLabelText('Email Address'), { target: { value: email } });
  await setupUser().click(screen.getByRole('button', { name: 'Subscribe' }));
}

function told() {
  return {
    status: screen.getByRole('status').textContent,
    alert: screen.queryByRole('alert')?.textContent ?? '',
  };
}

test('a successful sign-up empties the field', async () => {
  render(<NewsletterForm />);
  expect(told()).toEqual({ status: '', alert: '' });
  await signUp('reader@example.com');
  expect(xhr.last().path).toBe('/api/newsletter');
  expect(JSON.parse(String(xhr.last().body))).toEqual({
    email: 'reader@example.com',
    website: '',
    attribution: expect.objectContaining({ page: '/' }),
  });
  const button = screen.getByRole<HTMLButtonElement>('button', { name: 'Sending...' });
  expect([button.disabled, button.textContent]).toEqual([true, 'Sending...']);
  await xhr.answer(202, { success: true });
  expect(button.disabled).toBe(false);
  expect(told()).toEqual({ status: THANKS, alert: '' });
  expect(screen.getByLabelText<HTMLInputElement>('Email Address').value).toBe('');
});

test.each([
  ['is signed up', 202],
  ['is refused', 503],
])('once an address %s, the focus returns to the form', async (_, status) => {
  render(<NewsletterForm />);
  await signUp('keys@example.com');
  const button = screen.getByRole<HTMLButtonElement>('button', { name: 'Sending...' });
  loseFocus();
  await xhr.answer(status, { success: status === 202 });
  const place = status === 202 ? button : screen.getByRole('alert');
  expect(document.activeElement).toBe(place);
});

test('a focus that moves during the submission stays there', async () => {
  render(<NewsletterForm />);
  await signUp('elsewhere@example.com');
  const field = screen.getByLabelText('Email Address');
  field.focus();
  await xhr.answer(202, { success: true });
  expect(document.activeElement).toBe(field);
});

test('a refusal shows the server’s message or ours (section 8)', async () => {
  render(<NewsletterForm />);
  await signUp('sentence@example.com');
  await xhr.answer(200, { success: false });
  expect(told()).toEqual({ status: '', alert: FAILED });

  await signUp('sentence@example.com');
  expect(told()).toEqual({ status: '', alert: '' });
  await xhr.answer(503, { success: false, error: 'Not now, sorry.' });
  expect(told()).toEqual({ status: '', alert: 'Not now, sorry.' });
  expect(screen.getByLabelText<HTMLInputElement>('Email Address').value).toBe(
    'sentence@example.com',
  );

  await signUp('sentence@example.com');
  await xhr.answer(202, { success: true });
  expect(told()).toEqual({ status: THANKS, alert: '' });
});

test('a field error stays until the address is edited', async () => {
  render(<NewsletterForm />);
  await signUp('wrong@example.com');
  const fields = { email: 'Enter a valid address.' };
  await xhr.answer(422, { success: false, error: 'Please check the marked fields.', fields });
  const field = screen.getByLabelText('Email Address');
  const description = field.getAttribute('aria-describedby') ?? '';
  expect(document.getElementById(description)?.textContent).toBe('Enter a valid address.');
  expect(told().alert).toBe('Please check the marked fields.');
  fireEvent.input(field, { target: { value: 'right@example.com' } });
  expect(field.hasAttribute('aria-invalid')).toBe(false);
  expect(told().alert).toBe('');
});

test('a sign-up without a response fails after four attempts', async () => {
  render(<NewsletterForm />);
  await signUp('lost@example.com');
  for (const wait of [1000, 2000, 4000]) {
    await xhr.breakOff();
    await advanceTimers(wait);
  }
  await xhr.breakOff();
  expect(xhr.sent).toHaveLength(4);
  expect(told()).toEqual({ status: '', alert: FAILED });
});

test('cancelling shows no message and keeps the address', async () => {
  render(<NewsletterForm />);
  await signUp('patient@example.com');
  await advanceTimers(20_000);
  await setupUser().click(screen.getByRole('button', { name: 'Cancel' }));
  await advanceTimers(0);
  expect(screen.queryByRole('button', { name: 'Cancel' })).toBeNull();
  expect(told()).toEqual({ status: '', alert: '' });
  const field = screen.getByLabelText<HTMLInputElement>('Email Address');
  expect(field.value).toBe('patient@example.com');
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Subscribe' }));
  await advanceTimers(60_000);
  expect(xhr.sent).toHaveLength(1);
});

test.each(['', 'reader@'])('an invalid address is not sent: "%s"', async email => {
  render(<NewsletterForm />);
  await signUp(email);
  expect(xhr.sent).toEqual([]);
});

test('before hydration the browser itself can send the form', () => {
  const page = document.createElement('div');
  page.innerHTML = renderToString(<NewsletterForm />);
  expect(page.querySelector('form')?.matches('[method=post][action="/api/newsletter"]')).toBe(true);
  expect(page.querySelector('button')?.matches('[type=submit]:not([disabled])')).toBe(true);
});
