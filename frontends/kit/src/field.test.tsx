// @vitest-environment happy-dom
import { fireEvent, render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { TextAreaField, TextField } from './field.tsx';

test('an error message describes its field', () => {
  const { rerender } = render(<TextField label="Email" required error="Say where we reach you." />);
  const field = screen.getByLabelText('Email');
  expect(field.getAttribute('aria-invalid')).toBe('true');
  expect(descriptionOf(field)).toBe('Say where we reach you.');
  rerender(<TextField label="Email" required />);
  expect(field.hasAttribute('aria-invalid')).toBe(false);
  expect(field.hasAttribute('aria-describedby')).toBe(false);
});

test.each([
  ['text field', TextField],
  ['text area', TextAreaField],
])('an optional %s says so beside its label', (_, Kind) => {
  render(
    <>
      <Kind label="Phone Number" />
      <Kind label="Full Name" required />
    </>,
  );
  const optional = screen.getByLabelText('Phone Number');
  expect(optional.parentElement?.textContent).toBe('Phone Number (optional)');
  expect(descriptionOf(optional)).toBe(' (optional)');
  expect(screen.getByLabelText('Full Name').parentElement?.textContent).toBe('Full Name');
});

test.each([
  ['text field', TextField],
  ['text area', TextAreaField],
])('a %s shows its limit and truncates nothing (section 5)', (_, Kind) => {
  render(<Kind label="Message" maxLength={1000} required error="Too long." />);
  const field = screen.getByLabelText<HTMLInputElement>('Message');
  expect(field.hasAttribute('maxlength')).toBe(false);
  write(field, 'x'.repeat(899));
  expect(descriptionOf(field)).toBe('Too long.');
  write(field, 'x'.repeat(900));
  expect(descriptionOf(field)).toBe('Too long. 100 characters left');
  write(field, 'x'.repeat(1000));
  expect(descriptionOf(field)).toBe('Too long. 0 characters left');
  expect(field.validationMessage).toBe('');
  write(field, 'x'.repeat(2003));
  expect(descriptionOf(field)).toBe('Too long. 1,003 characters too many');
  expect(field.validationMessage).toBe('Use at most 1,000 characters.');
  expect(field.value).toHaveLength(2003);
  write(field, 'short');
  expect(descriptionOf(field)).toBe('Too long.');
  expect(field.validationMessage).toBe('');
});

test('a limit counts code points, not UTF-16 code units', () => {
  render(<TextField label="Name" maxLength={10} required />);
  const field = screen.getByLabelText<HTMLInputElement>('Name');
  write(field, '👩'.repeat(10));
  expect(descriptionOf(field)).toBe('0 characters left');
  expect(field.validationMessage).toBe('');
});

test('a field without a limit shows none', () => {
  render(<TextField label="Name" required />);
  const field = screen.getByLabelText('Name');
  write(field, 'x'.repeat(100_000));
  expect(field.hasAttribute('aria-describedby')).toBe(false);
});

test('a field that is not for addresses accepts any dots', () => {
  render(<TextField label="Name" required />);
  const field = screen.getByLabelText<HTMLInputElement>('Name');
  write(field, '.Wait...');
  expect(field.validationMessage).toBe('');
});

function write(field: HTMLElement, value: string) {
  fireEvent.input(field, { target: { value } });
}

function descriptionOf(field: HTMLElement) {
  const ids = field.getAttribute('aria-describedby')?.split(' ') ?? [];
  return ids.map(id => document.getElementById(id)?.textContent).join(' ');
}
