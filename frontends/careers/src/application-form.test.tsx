// @vitest-environment happy-dom
import { fireEvent, render, screen } from '@testing-library/react';
import { useState } from 'react';
import { beforeEach, expect, test, vi } from 'vitest';
import { advanceTimers } from '../../kit/testing/fake-time.ts';
import type { FakeXhr } from '../../kit/testing/fake-xhr.ts';
import { fakeXhr, keysOf } from '../../kit/testing/fake-xhr.ts';
import { recordToasts } from '../../kit/testing/record-toasts.ts';
import { setupUser } from '../../kit/testing/setup-user.ts';
import { ApplicationForm } from './application-form.tsx';

const FAILED = 'Failed to submit application. Please try again.';
const RESUME = 'The file is called a PDF, but it is none, or is damaged. Choose another one.';

let xhr: FakeXhr;
let applicants = 0;
const onSubmitted = vi.fn();
const onCancelled = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  xhr = fakeXhr();
  onSubmitted.mockReset();
  onCancelled.mockReset();
});

/** The page around the form keeps the résumé. */
function Page({ position = 'AI Intern' }) {
  const [resume, setResume] = useState<File>();
  return (
    <ApplicationForm
      position={position}
      resume={resume}
      onResume={setResume}
      onSubmitted={onSubmitted}
      onCancelled={onCancelled}
    />
  );
}

/** Unique, so that no test reuses another's idempotency key. */
function applicant() {
  applicants += 1;
  return `ravi-${applicants}@example.com`;
}

function write(label: string, value: string) {
  fireEvent.input(screen.getByLabelText(label), { target: { value } });
}

function fill(email = applicant()) {
  write('Full Name', 'Ravi Kumar');
  write('Email', email);
  write('Cover Letter', 'I count people for fun.');
  return email;
}

async function attach(file = new File(['%PDF-1.7'], 'resume.pdf')) {
  await setupUser().upload(screen.getByLabelText('Resume/CV'), file);
  await advanceTimers(0);
}

async function press(name: string) {
  await setupUser().click(screen.getByRole('button', { name }));
  await advanceTimers(0);
}

async function apply() {
  const email = fill();
  await attach();
  await press('Submit Application');
  return email;
}

function typed(label: string) {
  return screen.getByLabelText<HTMLInputElement>(label).value;
}

test('an application is sent with fields, résumé and attribution', async () => {
  render(<Page />);
  write('Phone Number', '+91 98765 43210');
  write('Years of Experience', '1 year');
  const email = await apply();
  expect(xhr.last().path).toBe('/api/career-application');
  const { attribution, resume, ...texts } = Object.fromEntries(xhr.last().body as FormData);
  expect(texts).toEqual({
    name: 'Ravi Kumar',
    email,
    phone: '+91 98765 43210',
    position: 'AI Intern',
    experience: '1 year',
    coverLetter: 'I count people for fun.',
    website: '',
  });
  expect(JSON.parse(String(attribution))).toMatchObject({ page: '/' });
  expect(resume).toMatchObject({ name: 'resume.pdf', size: 8 });
});

test('which fields are required, and of which kind (section 5)', () => {
  render(<Page position="" />);
  const required = ['Full Name', 'Email', 'Position', 'Cover Letter'];
  const optional = ['Phone Number', 'Years of Experience'];
  for (const label of [...required, ...optional]) {
    const field = screen.getByLabelText<HTMLInputElement>(label);
    expect([label, field.required]).toEqual([label, required.includes(label)]);
  }
  expect(screen.getByLabelText('Email').getAttribute('type')).toBe('email');
  expect(screen.getByPlaceholderText('3-5 years')).toBe(
    screen.getByLabelText('Years of Experience'),
  );
  expect(screen.getByLabelText('Resume/CV').getAttribute('accept')).toBe('.pdf,.doc,.docx');
});

test('the form is not sent without its required fields', async () => {
  render(<Page />);
  await attach();
  await press('Submit Application');
  expect(xhr.sent).toEqual([]);
});

test('success shows a toast and clears draft and résumé', async () => {
  const toasts = recordToasts();
  const { unmount } = render(<Page />);
  await apply();
  await xhr.answer(202, { success: true });
  expect(toasts).toEqual([
    {
      kind: 'success',
      title: 'Application Submitted!',
      text: "Thank you for your interest. We'll get back to you soon.",
    },
  ]);
  expect(onSubmitted).toHaveBeenCalledTimes(1);
  expect(screen.queryByText(/resume\.pdf/)).toBeNull();
  unmount();
  render(<Page />);
  expect(typed('Full Name')).toBe('');
});

test('an upload shows its progress and locks the résumé field', async () => {
  render(<Page />);
  await apply();
  const bar = screen.getByRole<HTMLProgressElement>('progressbar', { name: 'Upload' });
  expect(bar.getAttribute('value')).toBe('0');
  await xhr.receive(300, 1200);
  expect(bar.getAttribute('value')).toBe('0.25');
  const sending = screen.getByRole<HTMLButtonElement>('button', { name: 'Sending...' });
  expect(sending.disabled).toBe(true);
  expect(screen.getByLabelText<HTMLInputElement>('Resume/CV').disabled).toBe(true);
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Remove' }).disabled).toBe(true);
  // The field ignores a file that is dropped during the upload.
  const dataTransfer = { files: [new File(['%PDF-1.7'], 'other.pdf')] };
  fireEvent.drop(screen.getByLabelText('Resume/CV'), { dataTransfer });
  await advanceTimers(0);
  expect(screen.queryByText(/other\.pdf/)).toBeNull();
});

test('a cancelled upload keeps the form and can be resent', async () => {
  const toasts = recordToasts();
  render(<Page />);
  await apply();
  await xhr.receive(300, 1200);
  await press('Cancel');
  await advanceTimers(60_000);
  expect(xhr.sent).toHaveLength(1);
  expect(screen.queryByRole('progressbar')).toBeNull();
  expect(screen.queryByRole('alert')).toBeNull();
  expect(toasts).toEqual([]);
  expect(onSubmitted).not.toHaveBeenCalled();
  expect(typed('Full Name')).toBe('Ravi Kumar');
  expect(screen.getByText(/resume\.pdf/)).toBeTruthy();
  await press('Submit Application');
  await xhr.answer(202, { success: true });
  expect(onSubmitted).toHaveBeenCalledTimes(1);
  // The cancelled request may have reached the server.
  const [first, second] = keysOf(xhr);
  expect(second).toBe(first);
});

test('Cancel between two attempts stops at once', async () => {
  const toasts = recordToasts();
  render(<Page />);
  await apply();
  await xhr.breakOff();
  await advanceTimers(500);
  await press('Cancel');
  expect(screen.getByRole('button', { name: 'Submit Application' })).toBeTruthy();
  await advanceTimers(60_000);
  expect(xhr.sent).toHaveLength(1);
  expect(toasts).toEqual([]);
});

test('Cancel closes a form that is not being sent', async () => {
  render(<Page />);
  await press('Cancel');
  expect(onCancelled).toHaveBeenCalledTimes(1);
});

test('a success after leaving shows only a toast', async () => {
  const toasts = recordToasts();
  const { unmount } = render(<Page />);
  await apply();
  await xhr.breakOff();
  unmount();
  await advanceTimers(1000);
  expect(xhr.sent).toHaveLength(2);
  await xhr.answer(202, { success: true });
  expect(toasts).toMatchObject([{ kind: 'success', title: 'Application Submitted!' }]);
  expect(onSubmitted).not.toHaveBeenCalled();
  render(<Page />);
  expect(typed('Full Name')).toBe('');
});

test('a failure after leaving shows a toast, keeps the draft', async () => {
  const toasts = recordToasts();
  const { unmount } = render(<Page />);
  await apply();
  unmount();
  await xhr.answer(503, { success: false, message: 'We are away.' });
  expect(toasts).toEqual([
    { kind: 'error', title: 'Your application was not sent', text: 'We are away.' },
  ]);
  render(<Page />);
  expect(typed('Full Name')).toBe('Ravi Kumar');
});

test('a refusal marks fields, focuses the first, shows a toast', async () => {
  const toasts = recordToasts();
  render(<Page />);
  await apply();
  await xhr.answer(422, {
    success: false,
    message: 'Please check the marked fields.',
    fields: { phone: 'This is no number.', coverLetter: 'Say more.' },
  });
  expect(screen.getByRole('alert').textContent).toBe('Please check the marked fields.');
  expect(document.activeElement).toBe(screen.getByLabelText('Phone Number'));
  expect(screen.getByLabelText('Cover Letter').getAttribute('aria-invalid')).toBe('true');
  expect(screen.getByText('Say more.')).toBeTruthy();
  expect(toasts).toEqual([
    { kind: 'error', title: 'Error', text: 'Please check the marked fields.' },
  ]);
  expect(typed('Full Name')).toBe('Ravi Kumar');
  expect(screen.getByText(/resume\.pdf/)).toBeTruthy();
  expect(onSubmitted).not.toHaveBeenCalled();
});

test('a field error stays until the field is edited', async () => {
  render(<Page />);
  await apply();
  const fields = { name: 'Tell us your name.', phone: 'Too long.', resume: 'Empty.' };
  await xhr.answer(422, { success: false, error: 'Please check the marked fields.', fields });
  const phone = screen.getByLabelText('Phone Number');
  phone.focus();
  write('Phone Number', '+91 44 0000');
  expect(screen.queryByText('Too long.')).toBeNull();
  expect(document.activeElement).toBe(phone);
  await attach();
  expect(screen.queryByText('Empty.')).toBeNull();
  expect(screen.getByText('Tell us your name.')).toBeTruthy();
  expect(screen.getByRole('alert')).toBeTruthy();
  write('Full Name', 'Ravi K.');
  expect(screen.queryByRole('alert')).toBeNull();
});

test('a failure without a field gets the focus', async () => {
  render(<Page />);
  await apply();
  await xhr.answer(503, { success: false, error: 'Not right now.' });
  expect(screen.getByRole('alert').textContent).toBe('Not right now.');
  expect(document.activeElement).toBe(screen.getByRole('alert'));
});

test('a retry after a server error keeps its idempotency key', async () => {
  render(<Page />);
  await apply();
  await xhr.answer(503, { success: false, error: 'Not right now.' });
  await press('Submit Application');
  const [first, second] = keysOf(xhr);
  expect(second).toBe(first);
  await xhr.answer(200, { success: false });
  expect(screen.getByRole('alert').textContent).toBe(FAILED);
});

test('an unreachable server is tried four times before the error', async () => {
  render(<Page />);
  await apply();
  for (const wait of [1000, 2000, 4000]) {
    await xhr.breakOff();
    await advanceTimers(wait);
  }
  await xhr.breakOff();
  expect(new Set(keysOf(xhr)).size).toBe(1);
  expect(xhr.sent).toHaveLength(4);
  expect(screen.getByRole('alert').textContent).toBe(FAILED);
});

test('a missing résumé is an error until one is chosen', async () => {
  render(<Page />);
  fill();
  await press('Submit Application');
  expect(xhr.sent).toEqual([]);
  const field = screen.getByLabelText('Resume/CV');
  expect(field.getAttribute('aria-invalid')).toBe('true');
  expect(document.activeElement).toBe(field);
  expect(screen.getByRole('alert').textContent).toBe('Choose your résumé.');
  await attach();
  expect(field.hasAttribute('aria-invalid')).toBe(false);
});

test('an invalid résumé is refused before sending', async () => {
  render(<Page />);
  fill();
  await attach(new File(['I am only called a PDF'], 'resume.pdf'));
  expect(screen.getByText(RESUME)).toBeTruthy();
  expect(screen.queryByText(/resume\.pdf/)).toBeNull();
  await press('Submit Application');
  expect(xhr.sent).toEqual([]);
  await attach();
  expect(screen.queryByText(RESUME)).toBeNull();
  expect(screen.getByText(/resume\.pdf/)).toBeTruthy();
});

test('an invalid file removes the one chosen before', async () => {
  render(<Page />);
  await attach();
  await attach(new File([''], 'empty.pdf'));
  expect(screen.getByText('The file is empty. Choose another one.')).toBeTruthy();
  expect(screen.queryByText(/\.pdf/)).toBeNull();
});

/** A file whose content arrives only after `resolve`, as from a slow disk. */
function slowFile(content: string, name: string) {
  const file = new File([content], name);
  const read = Promise.withResolvers<void>();
  const arrayBuffer = file.arrayBuffer.bind(file);
  file.arrayBuffer = () => read.promise.then(arrayBuffer);
  return { file, ...read };
}

test('a résumé still being read is sent with the form', async () => {
  render(<Page />);
  fill();
  const { file, resolve } = slowFile('%PDF-1.7', 'slow.pdf');
  await attach(file);
  await press('Submit Application');
  expect(screen.queryByRole('alert')).toBeNull();
  resolve();
  await advanceTimers(0);
  expect((xhr.last().body as FormData).get('resume')).toMatchObject({ name: 'slow.pdf' });
});

test('an invalid résumé found during submission is not sent', async () => {
  render(<Page />);
  fill();
  const { file, resolve } = slowFile('I am only called a PDF', 'slow.pdf');
  await attach(file);
  await press('Submit Application');
  resolve();
  await advanceTimers(0);
  expect(screen.getByRole('alert').textContent).toBe(RESUME);
  expect(xhr.sent).toEqual([]);
});

test('the last chosen file wins, whichever is read first', async () => {
  render(<Page />);
  const first = slowFile('I am only called a PDF', 'first.pdf');
  await attach(first.file);
  await attach(new File(['%PDF-1.7'], 'second.pdf'));
  first.resolve();
  await advanceTimers(0);
  expect(screen.getByText(/second\.pdf/)).toBeTruthy();
  expect(screen.queryByText(RESUME)).toBeNull();
});

test('an unreadable file is refused with a message', async () => {
  render(<Page />);
  const { file, reject } = slowFile('%PDF-1.7', 'gone.pdf');
  await attach(file);
  reject(new DOMException('It is gone', 'NotReadableError'));
  await advanceTimers(0);
  expect(screen.getByText('The file cannot be read. Choose it again.')).toBeTruthy();
  expect(screen.queryByText(/gone\.pdf/)).toBeNull();
});

test('removing a dropped résumé returns the focus to its field', async () => {
  render(<Page />);
  const field = screen.getByLabelText('Resume/CV');
  fireEvent.drop(field, { dataTransfer: { files: [new File(['%PDF-1.7'], 'dropped.pdf')] } });
  await advanceTimers(0);
  expect(screen.getByText('dropped.pdf').closest('p')?.textContent).toBe('dropped.pdf (1 KiB)');
  expect(screen.getByText('Choose another file')).toBeTruthy();
  await press('Remove');
  expect(screen.queryByText(/dropped\.pdf/)).toBeNull();
  expect(document.activeElement).toBe(field);
});

test('the draft survives navigation, without a preset position (section 4)', () => {
  const { unmount } = render(<Page position="AI Intern" />);
  fill('ravi@example.com');
  write('Position', 'AI Intern, part time');
  unmount();
  render(<Page position="" />);
  expect(typed('Email')).toBe('ravi@example.com');
  expect(typed('Cover Letter')).toBe('I count people for fun.');
  expect(typed('Position')).toBe('');
});

test('a typed position is drafted for forms without a preset', () => {
  const { unmount } = render(<Page position="" />);
  write('Position', 'Anything with cameras');
  unmount();
  const other = render(<Page position="AI Intern" />);
  expect(typed('Position')).toBe('AI Intern');
  other.unmount();
  render(<Page position="" />);
  expect(typed('Position')).toBe('Anything with cameras');
});
