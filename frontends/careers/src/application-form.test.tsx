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

/** The window's content; the résumé is kept by the page around it. */
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

/** An applicant whom no other test has, so that no key is theirs already. */
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

/** Fills in the whole form and submits it. */
async function apply() {
  const email = fill();
  await attach();
  await press('Submit Application');
  return email;
}

function typed(label: string) {
  return screen.getByLabelText<HTMLInputElement>(label).value;
}

test('an application is sent with all its fields, its résumé and where it was written', async () => {
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

test('without its required fields the form is not sent', async () => {
  render(<Page />);
  await attach();
  await press('Submit Application');
  expect(xhr.sent).toEqual([]);
});

test('once it is sent the visitor is told, the form is over, and its draft and résumé are gone', async () => {
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

test('while it is sent the form tells how far it is, and takes no other résumé', async () => {
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
  // Neither does it take one that is dropped.
  const dataTransfer = { files: [new File(['%PDF-1.7'], 'other.pdf')] };
  fireEvent.drop(screen.getByLabelText('Resume/CV'), { dataTransfer });
  await advanceTimers(0);
  expect(screen.queryByText(/other\.pdf/)).toBeNull();
});

test('called off, it ends without a word, nothing is lost, and it can be sent again', async () => {
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
  // It may have arrived before it was called off.
  const [first, second] = keysOf(xhr);
  expect(second).toBe(first);
});

test('called off between two attempts it ends at once', async () => {
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

test('whoever leaves while it is sent is told elsewhere, and by nothing else', async () => {
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

test('whoever leaves is told of a failure, too, and finds what was typed', async () => {
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

test('a refusal stands at its fields, the first of which takes the focus, and is told as a toast', async () => {
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

test('what is wrong with a field is said until it is edited, and the focus stays there', async () => {
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

test('a failure that names no field takes the focus itself', async () => {
  render(<Page />);
  await apply();
  await xhr.answer(503, { success: false, error: 'Not right now.' });
  expect(screen.getByRole('alert').textContent).toBe('Not right now.');
  expect(document.activeElement).toBe(screen.getByRole('alert'));
});

test('pressed again after a failure of the server’s, it is the same application', async () => {
  render(<Page />);
  await apply();
  await xhr.answer(503, { success: false, error: 'Not right now.' });
  await press('Submit Application');
  const [first, second] = keysOf(xhr);
  expect(second).toBe(first);
  await xhr.answer(200, { success: false });
  expect(screen.getByRole('alert').textContent).toBe(FAILED);
});

test('an application that never arrives is tried four times, and then said to have failed', async () => {
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

test('without a résumé nothing is sent, and choosing one takes the complaint away', async () => {
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

test('what is no résumé is refused with a sentence, and nothing is sent', async () => {
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

test('a file that is no résumé takes the place of the one that was chosen before', async () => {
  render(<Page />);
  await attach();
  await attach(new File([''], 'empty.pdf'));
  expect(screen.getByText('The file is empty. Choose another one.')).toBeTruthy();
  expect(screen.queryByText(/\.pdf/)).toBeNull();
});

/** A file whose content comes when it is released, as from a slow disk. */
function slowFile(content: string, name: string) {
  const file = new File([content], name);
  const read = Promise.withResolvers<void>();
  const arrayBuffer = file.arrayBuffer.bind(file);
  file.arrayBuffer = () => read.promise.then(arrayBuffer);
  return { file, ...read };
}

test('a résumé that is still being read when the form is sent goes with it', async () => {
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

test('what turns out to be no résumé while the form is sent is refused, and nothing is sent', async () => {
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

test('of two files the one that was chosen last counts, however late the other is read', async () => {
  render(<Page />);
  const first = slowFile('I am only called a PDF', 'first.pdf');
  await attach(first.file);
  await attach(new File(['%PDF-1.7'], 'second.pdf'));
  first.resolve();
  await advanceTimers(0);
  expect(screen.getByText(/second\.pdf/)).toBeTruthy();
  expect(screen.queryByText(RESUME)).toBeNull();
});

test('a file that cannot be read is refused with a sentence', async () => {
  render(<Page />);
  const { file, reject } = slowFile('%PDF-1.7', 'gone.pdf');
  await attach(file);
  reject(new DOMException('It is gone', 'NotReadableError'));
  await advanceTimers(0);
  expect(screen.getByText('The file cannot be read. Choose it again.')).toBeTruthy();
  expect(screen.queryByText(/gone\.pdf/)).toBeNull();
});

test('a résumé can be dropped onto its field and removed, and the focus stays there', async () => {
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

test('a draft survives going away, but not the position that was applied for (section 4)', () => {
  const { unmount } = render(<Page position="AI Intern" />);
  fill('ravi@example.com');
  write('Position', 'AI Intern, part time');
  unmount();
  render(<Page position="" />);
  expect(typed('Email')).toBe('ravi@example.com');
  expect(typed('Cover Letter')).toBe('I count people for fun.');
  expect(typed('Position')).toBe('');
});

test('a position that nobody but the visitor has said is part of the draft, for forms that say none', () => {
  const { unmount } = render(<Page position="" />);
  write('Position', 'Anything with cameras');
  unmount();
  const other = render(<Page position="AI Intern" />);
  expect(typed('Position')).toBe('AI Intern');
  other.unmount();
  render(<Page position="" />);
  expect(typed('Position')).toBe('Anything with cameras');
});
