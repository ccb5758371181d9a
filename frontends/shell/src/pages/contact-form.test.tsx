// @vitest-environment happy-dom
import { fireEvent, render, screen } from '@testing-library/react';
import { renderToString } from 'react-dom/server';
import { beforeEach, expect, test, vi } from 'vitest';
import { advanceTimers } from '../../../kit/testing/fake-time.ts';
import type { FakeXhr } from '../../../kit/testing/fake-xhr.ts';
import { fakeXhr, keysOf } from '../../../kit/testing/fake-xhr.ts';
import { recordToasts } from '../../../kit/testing/record-toasts.ts';
import { setupUser } from '../../../kit/testing/setup-user.ts';
import { ContactForm } from './contact-form.tsx';

const SENT = 'Message Sent Successfully!';
const UNREACHABLE = 'Failed to send message. Please try again later.';
const LABELS = ['Full Name', 'Email Address', 'Your Message'];

let xhr: FakeXhr;
let visitors = 0;
/** Section 8 of the specification requires console errors. */
const said = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  xhr = fakeXhr();
  said.mockReset();
  vi.spyOn(console, 'error').mockImplementation(said);
});

/** Unique, so that no test reuses another's idempotency key. */
function visitor() {
  visitors += 1;
  return `asha-${visitors}@example.com`;
}

function write(label: string, value: string) {
  fireEvent.input(screen.getByLabelText(label), { target: { value } });
}

function fill(email = visitor()) {
  write('Full Name', 'Asha Rao');
  write('Email Address', email);
  write('Your Message', 'Two shops, fourteen cameras.');
  return email;
}

function submit() {
  return setupUser().click(screen.getByRole('button', { name: 'Send Message' }));
}

function values() {
  return LABELS.map(label => screen.getByLabelText<HTMLInputElement>(label).value);
}

test('a message is sent with attribution and an empty honeypot', async () => {
  render(<ContactForm />);
  const email = fill();
  await submit();
  expect(xhr.last().path).toBe('/api/contact');
  expect(JSON.parse(String(xhr.last().body))).toEqual({
    name: 'Asha Rao',
    email,
    message: 'Two shops, fourteen cameras.',
    website: '',
    attribution: expect.objectContaining({ page: '/', referrer: '', utmSource: '' }),
  });
});

test('the button is disabled while sending (section 4)', async () => {
  render(<ContactForm />);
  fill();
  await submit();
  const button = screen.getByRole<HTMLButtonElement>('button', { name: 'Sending...' });
  expect(button.disabled).toBe(true);
  await setupUser().click(button);
  expect(xhr.sent).toHaveLength(1);
});

test('the confirmation shows for 5000 ms, then an empty form', async () => {
  render(<ContactForm />);
  const email = fill();
  await submit();
  await xhr.answer(202, { success: true });
  const status = screen.getByRole('status');
  expect(status.textContent).toContain(SENT);
  expect(status.textContent).toContain(`We will reply to ${email}.`);
  expect(document.activeElement).toBe(status);
  await advanceTimers(4_999);
  expect(screen.queryByText(SENT)).not.toBeNull();
  await advanceTimers(1);
  expect(screen.queryByText(SENT)).toBeNull();
  expect(document.activeElement?.tagName).toBe('FORM');
  expect(values()).toEqual(['', '', '']);
  expect(said).not.toHaveBeenCalled();
});

test('solving a challenge is announced and can be cancelled', async () => {
  render(<ContactForm />);
  const status = screen.getByRole('status');
  expect(status.textContent).toBe('');
  const email = fill();
  await submit();
  const parameters = { keyPrefix: 'f'.repeat(32), nonce: '00', salt: '00', cost: 1, keyLength: 32 };
  const challenge = { parameters: { ...parameters, algorithm: 'PBKDF2/SHA-256' } };
  await xhr.answer(429, { success: false, code: 'challenge', challenge });
  expect(status.textContent).toBe('Checking that you are not a robot. This takes a few seconds.');
  await setupUser().click(screen.getByRole('button', { name: 'Cancel' }));
  await vi.waitFor(() => expect(status.textContent).toBe(''));
  expect(values()).toEqual(['Asha Rao', email, 'Two shops, fourteen cameras.']);
  expect(xhr.sent).toHaveLength(1);
});

test('a confirmation without an address names none (section 4)', async () => {
  render(<ContactForm />);
  fill('');
  // Native validation would stop the submit button.
  fireEvent.submit(screen.getByLabelText('Your Message'));
  await xhr.answer(202, { success: true });
  expect(screen.getByRole('status').textContent).toContain('We will reply to your provided email.');
});

test('errors stand beside fields, and the form keeps its values', async () => {
  render(<ContactForm />);
  const email = fill();
  await submit();
  await xhr.answer(422, {
    success: false,
    message: 'Please check the marked fields.',
    fields: { name: 'Tell us your name.' },
  });
  const failure = screen.getByRole('alert');
  expect(failure.textContent).toBe('Please check the marked fields.');
  expect(document.activeElement).toBe(failure);
  const name = screen.getByLabelText('Full Name');
  expect(name.getAttribute('aria-invalid')).toBe('true');
  expect(screen.getByText('Tell us your name.').id).toBe(name.getAttribute('aria-describedby'));
  expect(screen.getByLabelText('Email Address').hasAttribute('aria-invalid')).toBe(false);
  expect(values()).toEqual(['Asha Rao', email, 'Two shops, fourteen cameras.']);
  expect(said.mock.calls).toEqual([['Please check the marked fields.']]);
});

test('an edit clears its field’s error, the last edit all', async () => {
  render(<ContactForm />);
  fill();
  await submit();
  const fields = { name: 'Tell us your name.', message: 'Say a little more.' };
  await xhr.answer(422, { success: false, message: 'Please check the marked fields.', fields });
  write('Email Address', 'another@example.com');
  expect(document.querySelectorAll('[aria-invalid]')).toHaveLength(2);
  write('Full Name', 'Asha R.');
  expect(screen.queryByText('Tell us your name.')).toBeNull();
  expect(screen.getByLabelText('Full Name').hasAttribute('aria-invalid')).toBe(false);
  expect(screen.getByText('Say a little more.')).toBeTruthy();
  expect(screen.getByRole('alert')).toBeTruthy();
  write('Your Message', 'Three shops, fourteen cameras.');
  expect(document.querySelector('[aria-invalid]')).toBeNull();
  expect(screen.queryByRole('alert')).toBeNull();
  expect(said).toHaveBeenCalledTimes(1);
});

test('a failure without a field stays until the next attempt', async () => {
  render(<ContactForm />);
  fill();
  await submit();
  await xhr.answer(503, { success: false, message: 'Not right now.' });
  write('Full Name', 'Asha R.');
  expect(screen.getByRole('alert').textContent).toBe('Not right now.');
});

test.each([
  ['refuses without a message', 500, { success: false }, 'Failed to send message'],
  [
    'refuses with status 200',
    200,
    { success: false, message: 'Come back tomorrow.' },
    'Come back tomorrow.',
  ],
  ['refuses with an error', 429, { success: false, error: 'Too many.' }, 'Too many.'],
  ['answers with null', 200, 'null', UNREACHABLE],
  ['is a proxy with an HTML error', 502, '<html><h1>502 Bad Gateway</h1></html>', UNREACHABLE],
])(
  'a server that %s: its message or ours shows (sections 5 and 8)',
  async (_, status, body, sentence) => {
    render(<ContactForm />);
    fill();
    await submit();
    await xhr.answer(status, body);
    expect(screen.getByRole('alert').textContent).toBe(sentence);
    expect(said.mock.calls).toEqual([[sentence]]);
    expect(values()[2]).toBe('Two shops, fourteen cameras.');
  },
);

test('an unreachable server is tried four times (sections 8 and 9)', async () => {
  render(<ContactForm />);
  fill();
  await submit();
  for (const wait of [1000, 2000, 4000]) {
    await xhr.breakOff();
    expect(screen.queryByRole('alert')).toBeNull();
    await advanceTimers(wait);
  }
  await xhr.breakOff();
  expect(xhr.sent).toHaveLength(4);
  expect(screen.getByRole('alert').textContent).toBe(UNREACHABLE);
  expect(said.mock.calls).toEqual([[UNREACHABLE]]);
});

test.each([
  ['during a request', async () => advanceTimers(20_000)],
  [
    'between two attempts',
    async () => {
      await xhr.breakOff();
      await advanceTimers(500);
    },
  ],
])('Cancel %s stops silently and keeps the form', async (_, wait) => {
  render(<ContactForm />);
  const email = fill();
  await submit();
  await wait();
  await setupUser().click(screen.getByRole('button', { name: 'Cancel' }));
  await advanceTimers(0);
  expect(screen.queryByRole('button', { name: 'Cancel' })).toBeNull();
  expect(screen.queryByRole('alert')).toBeNull();
  expect(values()).toEqual(['Asha Rao', email, 'Two shops, fourteen cameras.']);
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Send Message' }));
  await advanceTimers(60_000);
  expect(xhr.sent).toHaveLength(1);
  expect(said).not.toHaveBeenCalled();
  // The cancelled request may have reached the server.
  await submit();
  const [first, second] = keysOf(xhr);
  expect(second).toBe(first);
});

test('a success after leaving shows a toast, clears the draft', async () => {
  const toasts = recordToasts();
  const { unmount } = render(<ContactForm />);
  fill();
  await submit();
  unmount();
  render(<ContactForm />);
  expect(values()[0]).toBe('Asha Rao');
  await xhr.answer(202, { success: true });
  expect(toasts.at(-1)).toMatchObject({ kind: 'success', title: 'Message Sent Successfully!' });
  expect(values()).toEqual(['', '', '']);
});

test('a failure after leaving shows a toast, keeps the draft', async () => {
  const toasts = recordToasts();
  const { unmount } = render(<ContactForm />);
  fill();
  await submit();
  unmount();
  await xhr.answer(503, { success: false, message: 'We are away.' });
  expect(toasts.at(-1)).toMatchObject({ kind: 'error', text: 'We are away.' });
  expect(said).toHaveBeenCalledWith('We are away.');
  render(<ContactForm />);
  expect(values()[0]).toBe('Asha Rao');
});

test('a retry after a server error keeps its idempotency key', async () => {
  render(<ContactForm />);
  fill();
  await submit();
  await xhr.answer(503, { success: false });
  await submit();
  await xhr.answer(202, { success: true });
  const [first, second] = keysOf(xhr);
  expect(second).toBe(first);
  expect(screen.getByText(SENT)).toBeTruthy();
});

test.each([
  ['without its required fields', () => undefined],
  ['with an invalid address', () => fill('asha@')],
  [
    'with a message that is too long',
    () => {
      fill();
      write('Your Message', 'x'.repeat(10_001));
    },
  ],
])('%s the form is not sent', async (_, prepare) => {
  render(<ContactForm />);
  prepare();
  await submit();
  expect(xhr.sent).toEqual([]);
});

test('fields have the specified types, requirements and lengths (section 5)', () => {
  render(<ContactForm />);
  const [name, email, message] = LABELS.map(label => screen.getByLabelText(label));
  expect(name?.matches('input[name=name][required][autocomplete=name]')).toBe(true);
  expect(email?.matches('input[type=email][required][autocomplete=email]')).toBe(true);
  expect(message?.matches('textarea[required][rows="4"]')).toBe(true);
  for (const [label, limit] of [
    ['Full Name', 200],
    ['Email Address', 254],
    ['Your Message', 10_000],
  ] as const) {
    const field = screen.getByLabelText<HTMLInputElement>(label);
    write(label, 'a@x.'.padEnd(limit, 'x'));
    expect(field.validity.customError, label).toBe(false);
    write(label, 'a@x.'.padEnd(limit + 1, 'x'));
    expect(field.validity.customError, label).toBe(true);
  }
});

test('a draft survives navigation and ends with its message (section 4)', async () => {
  const first = render(<ContactForm />);
  const email = fill();
  first.unmount();
  const second = render(<ContactForm />);
  expect(values()).toEqual(['Asha Rao', email, 'Two shops, fourteen cameras.']);
  await submit();
  await xhr.answer(202, { success: true });
  second.unmount();
  render(<ContactForm />);
  expect(values()).toEqual(['', '', '']);
});

test('company and phone unfold when filled, and are optional', async () => {
  render(<ContactForm />);
  const folded = screen.getByText('Add company or phone').closest('details');
  expect(folded?.open).toBe(false);
  fill();
  write('Company', 'Rao & Sons');
  expect(folded?.open).toBe(true);
  await submit();
  const body = JSON.parse(String(xhr.last().body));
  expect(body).toMatchObject({ company: 'Rao & Sons' });
  expect(body).not.toHaveProperty('phone');
  await xhr.answer(422, { success: false, message: 'No.', fields: { phone: 'Too long.' } });
  expect(screen.getByText('Too long.')).toBeTruthy();
});

test('before hydration the browser can submit the form', () => {
  const page = document.createElement('div');
  page.innerHTML = renderToString(<ContactForm />);
  expect(page.querySelector('form')?.matches('[method=post][action="/api/contact"]')).toBe(true);
  expect(page.querySelector('button')?.matches('[type=submit]:not([disabled])')).toBe(true);
});
