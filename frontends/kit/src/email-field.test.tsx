// @vitest-environment happy-dom
import { fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { advanceTimers } from '../testing/fake-time.ts';
import { EmailField } from './field.tsx';

let field: HTMLInputElement;
const sent = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  sent.mockReset();
  render(
    <form
      onSubmit={event => {
        event.preventDefault();
        sent(field.value);
      }}
    >
      <EmailField label="Email" name="email" required />
    </form>,
  );
  field = screen.getByLabelText('Email');
});

function write(value: string) {
  fireEvent.input(field, { target: { value } });
}

test('only undeliverable addresses are refused, in the server’s words', () => {
  write('a..b@x.com');
  expect(field.validationMessage).toBe('Enter an e-mail address such as name@company.com.');
  write(`${'a'.repeat(260)}@x.com`);
  expect(field.validationMessage).toBe('Use at most 254 characters.');
  write('a.b@x.com');
  expect(field.validity.customError).toBe(false);
});

test('the address is extracted from pasted text', () => {
  write('\u200bAsha Rao <asha@example.com>\u00ad');
  expect(field.value).toBe('asha@example.com');
  write('mailto:asha@example.com?subject=x');
  expect(field.value).toBe('asha@example.com');
});

test('submitting a domain without a dot offers a correction', async () => {
  write('john@gmail');
  expect(field.validationMessage).toBe('Did you mean gmail.com?');
  expect(screen.queryByRole('button')).toBeNull();
  fireEvent.invalid(field);
  fireEvent.click(screen.getByRole('button', { name: 'Did you mean gmail.com?' }));
  expect(field.value).toBe('john@gmail.com');
  expect(field.validity.customError).toBe(false);
  expect(document.activeElement).toBe(field);
  expect(screen.queryByRole('button')).toBeNull();
});

test('after a pause a mistyped domain gets a suggestion', async () => {
  write('john@gmial.com');
  expect(field.validity.customError).toBe(false);
  await advanceTimers(499);
  expect(screen.queryByRole('button')).toBeNull();
  await advanceTimers(1);
  expect(screen.getByRole('button').textContent).toBe('Did you mean gmail.com?');
  write('john@gmial.co.in');
  expect(screen.queryByRole('button')).toBeNull();
});

test('an address that the browser refuses is corrected and sent', async () => {
  field.value = 'user@müller.example';
  expect(fireEvent.invalid(field)).toBe(false);
  await advanceTimers(0);
  expect(sent).toHaveBeenCalledWith('user@xn--mller-kva.example');
});
