// @vitest-environment happy-dom

import { BrowserRouter } from '@site/kit/router.ts';
import { fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { advanceTimers } from '../../kit/testing/fake-time.ts';
import { fakeXhr } from '../../kit/testing/fake-xhr.ts';
import { setupUser } from '../../kit/testing/setup-user.ts';
import ApplicationPage from './application-page.tsx';

beforeEach(() => {
  vi.useFakeTimers();
  fakeXhr();
  history.replaceState(null, '', '/careers/apply');
});

test('Cancel returns the focus to the submit button', async () => {
  render(
    <BrowserRouter>
      <ApplicationPage />
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
