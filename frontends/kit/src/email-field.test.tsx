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

test('what no mail can go to is refused in the words of the server, and nothing else', () => {
  write('a..b@x.com');
  expect(field.validationMessage).toBe('Enter an e-mail address such as name@company.com.');
  write(`${'a'.repeat(260)}@x.com`);
  expect(field.validationMessage).toBe('Use at most 254 characters.');
  write('a.b@x.com');
  expect(field.validity.customError).toBe(false);
});

test('a pasted address is taken out of what stands around it', () => {
  write('\u200bAsha Rao <asha@example.com>\u00ad');
  expect(field.value).toBe('asha@example.com');
  write('mailto:asha@example.com?subject=x');
  expect(field.value).toBe('asha@example.com');
});

test('a domain without a dot is asked about at once when it is to be sent, and the answer mends it', async () => {
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

test('a domain that looks mistyped is asked about after a pause, and not refused', async () => {
  write('john@gmial.com');
  expect(field.validity.customError).toBe(false);
  await advanceTimers(499);
  expect(screen.queryByRole('button')).toBeNull();
  await advanceTimers(1);
  expect(screen.getByRole('button').textContent).toBe('Did you mean gmail.com?');
  write('john@gmial.co.in');
  expect(screen.queryByRole('button')).toBeNull();
});

test('an address that the browser refused is sent once it is mended, also one that was entered before', async () => {
  field.value = 'user@müller.example';
  expect(fireEvent.invalid(field)).toBe(false);
  await advanceTimers(0);
  expect(sent).toHaveBeenCalledWith('user@xn--mller-kva.example');
});
