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
/** What the console says, as section 8 of the specification asks for. */
const said = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  xhr = fakeXhr();
  said.mockReset();
  vi.spyOn(console, 'error').mockImplementation(said);
});

/** A visitor whom no other test has, so that no key is theirs already. */
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

test('what was written is sent, with where the visitor is and the field that nobody fills in', async () => {
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

test('while it is sent the button says so and cannot be pressed again (section 4)', async () => {
  render(<ContactForm />);
  fill();
  await submit();
  const button = screen.getByRole<HTMLButtonElement>('button', { name: 'Sending...' });
  expect(button.disabled).toBe(true);
  await setupUser().click(button);
  expect(xhr.sent).toHaveLength(1);
});

test('the success is told with the address for 5000 ms, then the form is back and empty', async () => {
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

test('while a challenge is solved who listens is told so, too, and may call it off', async () => {
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

test('where no address was entered the success speaks of the one provided (section 4)', async () => {
  render(<ContactForm />);
  fill('');
  // The browser would ask for an address: a visitor gets here only where it does not.
  fireEvent.submit(screen.getByLabelText('Your Message'));
  await xhr.answer(202, { success: true });
  expect(screen.getByRole('status').textContent).toContain('We will reply to your provided email.');
});

test('what is wrong is said beside its field, the failure takes the focus, and nothing is lost', async () => {
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

test('what is wrong with a field is said until it is edited, and the failure until none is left', async () => {
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

test('a failure that names no field is said until the next try', async () => {
  render(<ContactForm />);
  fill();
  await submit();
  await xhr.answer(503, { success: false, message: 'Not right now.' });
  write('Full Name', 'Asha R.');
  expect(screen.getByRole('alert').textContent).toBe('Not right now.');
});

test.each([
  ['refuses without a word', 500, { success: false }, 'Failed to send message'],
  [
    'says no in a success',
    200,
    { success: false, message: 'Come back tomorrow.' },
    'Come back tomorrow.',
  ],
  ['says no with an error', 429, { success: false, error: 'Too many.' }, 'Too many.'],
  ['answers with no object', 200, 'null', UNREACHABLE],
  ['is a proxy with a page of its own', 502, '<html><h1>502 Bad Gateway</h1></html>', UNREACHABLE],
])(
  'a server that %s: the visitor reads its sentence or ours (sections 5 and 8)',
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

test('a message that never arrives is tried four times (sections 8 and 9)', async () => {
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
  ['while it waits for an answer', async () => advanceTimers(20_000)],
  [
    'between two attempts',
    async () => {
      await xhr.breakOff();
      await advanceTimers(500);
    },
  ],
])('called off %s it ends without a word, and nothing is lost', async (_, wait) => {
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
  // It may have arrived before it was called off.
  await submit();
  const [first, second] = keysOf(xhr);
  expect(second).toBe(first);
});

test('whoever leaves while it is sent is told elsewhere, and finds an empty form', async () => {
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

test('whoever leaves is told of a failure, too, and finds what was typed', async () => {
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

test('pressed again after a failure of the server’s, it is the same message', async () => {
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
  ['without an address that is one', () => fill('asha@')],
  [
    'with more than the server takes',
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

test('what each field is: required, how long, of which kind (section 5)', () => {
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

test('a draft survives going away, and does not outlive its message (section 4)', async () => {
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

test('company and phone are folded until they hold something, and sent if given', async () => {
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

test('before the application has started the browser sends the form by itself', () => {
  const page = document.createElement('div');
  page.innerHTML = renderToString(<ContactForm />);
  expect(page.querySelector('form')?.matches('[method=post][action="/api/contact"]')).toBe(true);
  expect(page.querySelector('button')?.matches('[type=submit]:not([disabled])')).toBe(true);
});
