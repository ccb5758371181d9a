// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { renderToString } from 'react-dom/server';
import { beforeEach, expect, test, vi } from 'vitest';
import { recordToasts } from '../testing/record-toasts.ts';
import type { Toast } from './toast.ts';
import { useDraft } from './use-draft.ts';

const NOT_DRAFTED = ['position'];
const BACK: Toast = {
  kind: 'overlay',
  title: 'Your draft is back',
  text: 'We kept what you typed. Your browser forgets it with this tab.',
};

let toasts: readonly Toast[];

beforeEach(() => {
  toasts = recordToasts();
});

function Form({ name = 'letter', position = '' }) {
  const { form, save, discard } = useDraft(name, NOT_DRAFTED);
  return (
    <form ref={form} onInput={save}>
      <input aria-label="Name" name="name" />
      <input aria-label="Position" name="position" defaultValue={position} />
      <textarea aria-label="Letter" name="letter" />
      <input aria-label="File" name="file" type="file" />
      <button type="button" onClick={discard}>
        Forget
      </button>
    </form>
  );
}

async function write(label: string, words: string) {
  await userEvent.type(screen.getByLabelText(label), words);
}

function typedInto(label: string) {
  const field = screen.getByLabelText<HTMLInputElement>(label);
  return field.value;
}

test('a draft returns with the form and a toast', async () => {
  const { unmount } = render(<Form />);
  expect(toasts).toEqual([]);
  await write('Name', 'Asha Rao');
  await write('Letter', 'Half a sent');
  unmount();
  render(<Form />);
  expect(typedInto('Name')).toBe('Asha Rao');
  expect(typedInto('Letter')).toBe('Half a sent');
  expect(toasts).toEqual([BACK]);
});

test('text typed before hydration wins over the draft', async () => {
  sessionStorage.setItem('draft:letter', JSON.stringify({ name: 'Asha Rao', letter: 'Old' }));
  const page = document.body.appendChild(document.createElement('div'));
  page.innerHTML = renderToString(<Form />);
  const typed = page.querySelector('textarea');
  if (typed) {
    typed.value = 'Typed at once';
  }
  render(<Form />, { container: page, hydrate: true });
  expect(typedInto('Letter')).toBe('Typed at once');
  expect(typedInto('Name')).toBe('Asha Rao');
  cleanup();
  render(<Form />);
  expect(typedInto('Letter')).toBe('Typed at once');
});

test('a draft is discarded even if browsers restored the fields', async () => {
  sessionStorage.setItem('draft:letter', JSON.stringify({ name: 'Asha Rao' }));
  const page = document.body.appendChild(document.createElement('div'));
  page.innerHTML = renderToString(<Form />);
  const [name] = page.getElementsByTagName('input');
  if (name) {
    name.value = 'Asha Rao';
  }
  render(<Form />, { container: page, hydrate: true });
  await userEvent.click(screen.getByRole('button', { name: 'Forget' }));
  expect(sessionStorage.getItem('draft:letter')).toBeNull();
});

test('a field outside of the draft keeps the page’s value', async () => {
  const { unmount } = render(<Form position="AI Intern" />);
  await write('Name', 'Ravi');
  unmount();
  render(<Form position="" />);
  expect(typedInto('Position')).toBe('');
  expect(sessionStorage.getItem('draft:letter')).not.toContain('AI Intern');
});

test('a discarded draft does not return', async () => {
  const { unmount } = render(<Form />);
  await write('Name', 'Asha');
  await userEvent.click(screen.getByRole('button', { name: 'Forget' }));
  unmount();
  render(<Form />);
  expect(typedInto('Name')).toBe('');
  expect(toasts).toEqual([]);
});

test('one form does not get the draft of another', async () => {
  const { unmount } = render(<Form name="one" />);
  await write('Name', 'Asha');
  unmount();
  render(<Form name="other" />);
  expect(typedInto('Name')).toBe('');
});

test.each(['no JSON', 'null', '[]', '{"name":7}'])(
  'a stored draft that is %s leaves the form empty',
  draft => {
    sessionStorage.setItem('draft:letter', draft);
    render(<Form />);
    expect(typedInto('Name')).toBe('');
    expect(toasts).toEqual([]);
  },
);

test('without storage the form works without a draft', async () => {
  const forbidden = () => {
    throw new DOMException('Forbidden', 'SecurityError');
  };
  vi.stubGlobal('sessionStorage', {
    getItem: forbidden,
    setItem: forbidden,
    removeItem: forbidden,
    clear: () => undefined,
  });
  render(<Form />);
  await write('Name', 'Asha');
  await userEvent.click(screen.getByRole('button', { name: 'Forget' }));
  expect(typedInto('Name')).toBe('Asha');
});
