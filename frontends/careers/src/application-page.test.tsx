// @vitest-environment happy-dom

import { BrowserRouter, Route, Routes } from '@site/kit/router.ts';
import { StaticRouter } from '@site/kit/static-router.ts';
import { fireEvent, render, screen } from '@testing-library/react';
import { renderToString } from 'react-dom/server';
import { beforeEach, expect, test, vi } from 'vitest';
import { advanceTimers } from '../../kit/testing/fake-time.ts';
import type { FakeXhr } from '../../kit/testing/fake-xhr.ts';
import { fakeXhr } from '../../kit/testing/fake-xhr.ts';
import { setupUser } from '../../kit/testing/setup-user.ts';
import ApplicationPage from './application-page.tsx';

let xhr: FakeXhr;

beforeEach(() => {
  vi.useFakeTimers();
  xhr = fakeXhr();
  history.replaceState(null, '', '/');
});

function App() {
  return (
    <Routes>
      <Route path="/careers/apply/*" element={<ApplicationPage />} />
    </Routes>
  );
}

/** The page as the build renders it. */
function rendered(address: string) {
  const page = document.createElement('div');
  page.innerHTML = renderToString(
    <StaticRouter location={address}>
      <App />
    </StaticRouter>,
  );
  return page;
}

test('without JavaScript the form names its position, and shows and sends the file by itself', () => {
  const page = rendered('/careers/apply/3');
  const form = page.querySelector('form');
  expect(form?.matches('[method=post][enctype="multipart/form-data"]')).toBe(true);
  expect(form?.getAttribute('action')).toBe('/api/career-application');
  const named = Array.from(form?.elements ?? [], field => field.getAttribute('name'));
  expect(named.filter(Boolean)).toEqual([
    ...['name', 'email', 'phone', 'experience', 'position', 'coverLetter', 'resume', 'website'],
  ]);
  expect(page.querySelector<HTMLInputElement>('[name=position]')?.value).toBe(
    'Computer Vision Intern',
  );
  const file = page.querySelector('[name=resume]');
  expect(file?.matches('[required]:not(.sr-only)')).toBe(true);
  const buttons = Array.from(page.querySelectorAll('button'), button => button.textContent);
  expect(buttons).toEqual(['Submit Application']);
});

test('a position that there is not is said not to be there', () => {
  expect(rendered('/careers/apply/11').textContent).toContain('Position Not Found');
  expect(rendered('/careers/apply').querySelector('h1')?.textContent).toBe(
    'Apply for an internship',
  );
});

test('a résumé that was chosen before hydration is kept, and the success stands in the page', async () => {
  history.replaceState(null, '', '/careers/apply/6');
  const page = rendered('/careers/apply/6');
  document.body.append(page);
  const picker = page.querySelector('[name=resume]') ?? page;
  await setupUser().upload(picker as HTMLInputElement, new File(['%PDF-1.7'], 'early.pdf'));
  render(
    <BrowserRouter>
      <App />
    </BrowserRouter>,
    { container: page, hydrate: true },
  );
  await advanceTimers(0);
  expect(screen.getByText(/early\.pdf/)).toBeTruthy();
  for (const [label, value] of [
    ['Full Name', 'Ravi Kumar'],
    ['Email', 'ravi.early@example.com'],
    ['Cover Letter', 'I count people for fun.'],
  ] as const) {
    fireEvent.input(screen.getByLabelText(label), { target: { value } });
  }
  await setupUser().click(screen.getByRole('button', { name: 'Submit Application' }));
  await advanceTimers(0);
  await xhr.answer(200, { success: true });
  const confirmation = screen.getByText('Application Submitted!').closest('[role=status]');
  expect(document.activeElement).toBe(confirmation);
});

test('where there is nothing to leave, calling off leads back to the button that sends', async () => {
  history.replaceState(null, '', '/careers/apply');
  render(
    <BrowserRouter>
      <App />
    </BrowserRouter>,
  );
  for (const [label, value] of [
    ['Full Name', 'Ravi Kumar'],
    ['Email', 'ravi.off@example.com'],
    ['Position', 'AI Intern'],
    ['Cover Letter', 'I count people for fun.'],
  ] as const) {
    fireEvent.input(screen.getByLabelText(label), { target: { value } });
  }
  await setupUser().upload(screen.getByLabelText('Resume/CV'), new File(['%PDF-1.7'], 'r.pdf'));
  await advanceTimers(0);
  await setupUser().click(screen.getByRole('button', { name: 'Submit Application' }));
  await advanceTimers(0);
  await setupUser().click(screen.getByRole('button', { name: 'Cancel' }));
  await advanceTimers(0);
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Submit Application' }));
});
