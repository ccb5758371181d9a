// @vitest-environment happy-dom
import { BrowserRouter } from '@site/kit/router.ts';
import type { RenderResult } from '@testing-library/react';
import { fireEvent, render, screen, within } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { fakeIntersectionObserver } from '../../kit/testing/fake-intersection-observer.ts';
import { advanceTimers } from '../../kit/testing/fake-time.ts';
import type { FakeXhr } from '../../kit/testing/fake-xhr.ts';
import { fakeXhr } from '../../kit/testing/fake-xhr.ts';
import { recordToasts } from '../../kit/testing/record-toasts.ts';
import { setupUser } from '../../kit/testing/setup-user.ts';
import CareersPage from './careers-page.tsx';

let xhr: FakeXhr;
let shown: RenderResult;

beforeEach(() => {
  // A day on which the positions are open.
  vi.useFakeTimers({ now: new Date('2025-06-01T12:00:00Z') });
  fakeIntersectionObserver();
  xhr = fakeXhr();
  shown = render(<Page />);
});

function Page() {
  return (
    <BrowserRouter>
      <CareersPage />
    </BrowserRouter>
  );
}

function rerender() {
  shown.rerender(<Page />);
}

async function press(name: string, place = document.body) {
  const [button] = within(place).getAllByRole('button', { name });
  await setupUser().click(button ?? place);
}

async function follow(name: string | RegExp) {
  const [link] = screen.getAllByRole('link', { name });
  await setupUser().click(link ?? document.body);
}

function positionIn(dialog: HTMLElement) {
  return within(dialog).getByLabelText<HTMLInputElement>('Position').value;
}

function applyFor(title: string) {
  return follow(new RegExp(`^Apply for this position ?: ${title}$`));
}

test('the dialog and its form name the position', async () => {
  await applyFor('Computer Vision Intern');
  const dialog = screen.getByRole('dialog', { name: 'Computer Vision Intern' });
  expect(positionIn(dialog)).toBe('Computer Vision Intern');
});

test('Apply Now presets no position and keeps the résumé', async () => {
  await applyFor('AI Intern');
  const resume = new File(['%PDF-1.7'], 'resume.pdf');
  await setupUser().upload(screen.getByLabelText('Resume/CV'), resume);
  await advanceTimers(0);
  await press('Cancel', screen.getByRole('dialog'));
  expect(screen.queryByRole('dialog')).toBeNull();
  await follow('Apply Now');
  const dialog = screen.getByRole('dialog', { name: 'Position' });
  expect(positionIn(dialog)).toBe('');
  expect(within(dialog).getByText(/resume\.pdf/)).toBeTruthy();
});

test('a position disappears from the list once it closes', () => {
  const list = within(screen.getByRole('region', { name: 'Open Positions' }));
  expect(list.getAllByRole('group').length).toBeGreaterThan(0);
  vi.setSystemTime('2999-01-01T12:00:00Z');
  rerender();
  expect(list.queryAllByRole('group')).toEqual([]);
  expect(list.getByRole('status').textContent).toBe('0 positions');
});

test('a click with Ctrl opens no dialog', () => {
  const [link] = screen.getAllByRole('link', { name: 'Apply Now' });
  expect(link?.getAttribute('href')).toBe('/careers/apply');
  fireEvent.click(link ?? document.body, { ctrlKey: true });
  expect(screen.queryByRole('dialog')).toBeNull();
});

test('the dialog closes by X and Cancel', async () => {
  for (const close of ['Close', 'Cancel']) {
    await follow('Apply Now');
    await press(close, screen.getByRole('dialog'));
    expect(screen.queryByRole('dialog')).toBeNull();
  }
});

async function apply(email: string) {
  const dialog = within(screen.getByRole('dialog'));
  for (const [label, value] of [
    ['Full Name', 'Ravi Kumar'],
    ['Email', email],
    ['Cover Letter', 'I count people for fun.'],
  ] as const) {
    fireEvent.input(dialog.getByLabelText(label), { target: { value } });
  }
  await setupUser().upload(
    dialog.getByLabelText('Resume/CV'),
    new File(['%PDF-1.7'], 'resume.pdf'),
  );
  await advanceTimers(0);
  await press('Submit Application');
}

test('a sent application shows a focused confirmation in the page', async () => {
  await applyFor('AI Intern');
  await apply('ravi.kumar@example.com');
  await xhr.answer(202, { success: true });
  expect(screen.queryByRole('dialog')).toBeNull();
  const confirmation = screen.getByText('Application Submitted!').closest('[role=status]');
  expect(confirmation?.textContent).toBe(
    "Application Submitted!Thank you for your interest. We'll get back to you soon.",
  );
  expect(document.activeElement).toBe(confirmation);
  // A new application removes the confirmation.
  await follow('Apply Now');
  expect(screen.queryByText('Application Submitted!')).toBeNull();
});

test('an upload finishing after close leaves the next form alone', async () => {
  const toasts = recordToasts();
  await applyFor('AI Intern');
  await apply('ravi.closed@example.com');
  await press('Close', screen.getByRole('dialog'));
  await applyFor('Computer Vision Intern');
  const next = within(screen.getByRole('dialog'));
  const letter = next.getByLabelText<HTMLTextAreaElement>('Cover Letter');
  fireEvent.input(letter, { target: { value: 'I see people, too.' } });
  await xhr.answer(202, { success: true });
  expect(toasts.at(-1)).toMatchObject({ kind: 'success', title: 'Application Submitted!' });
  expect(screen.getByRole('dialog', { name: 'Computer Vision Intern' })).toBeTruthy();
  expect(letter.value).toBe('I see people, too.');
  expect(next.getByText(/resume\.pdf/)).toBeTruthy();
});
