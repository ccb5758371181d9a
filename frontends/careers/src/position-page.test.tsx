// @vitest-environment happy-dom
import { HONEYPOT } from '@site/kit/honeypot.tsx';
import { BrowserRouter, Route, Routes } from '@site/kit/router.ts';
import { StaticRouter } from '@site/kit/static-router.ts';
import { fireEvent, render, screen, within } from '@testing-library/react';
import { renderToString } from 'react-dom/server';
import { beforeEach, expect, test, vi } from 'vitest';
import { fakeIntersectionObserver } from '../../kit/testing/fake-intersection-observer.ts';
import { advanceTimers } from '../../kit/testing/fake-time.ts';
import type { FakeXhr } from '../../kit/testing/fake-xhr.ts';
import { fakeXhr } from '../../kit/testing/fake-xhr.ts';
import { setupUser } from '../../kit/testing/setup-user.ts';
import { FIELDS } from './application-form.tsx';
import PositionPage from './position-page.tsx';

vi.mock('./position-previews.ts', () => ({ previewOf: (slug: string) => `/${slug}.jpg` }));

const ADDRESS = '/careers/ai-intern';
const WHILE_OPEN = '2025-06-01T12:00:00Z';
const AFTER_CLOSING = '2999-01-01T12:00:00Z';

let xhr: FakeXhr;

beforeEach(() => {
  vi.useFakeTimers({ now: new Date(WHILE_OPEN) });
  fakeIntersectionObserver();
  xhr = fakeXhr();
});

function App() {
  return (
    <Routes>
      <Route path="/careers/*" element={<PositionPage />} />
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

/** Renders the page, or hydrates it in prerendered HTML. */
function show(container?: HTMLElement) {
  history.replaceState(null, '', ADDRESS);
  const page = (
    <BrowserRouter>
      <App />
    </BrowserRouter>
  );
  return container
    ? render(page, { container: document.body.appendChild(container), hydrate: true })
    : render(page);
}

test('the prerendered form works without JavaScript', () => {
  const page = rendered('/careers/computer-vision-intern');
  const form = page.querySelector('#apply form');
  expect(form?.matches('[method=post][enctype="multipart/form-data"]')).toBe(true);
  expect(form?.getAttribute('action')).toBe('/api/career-application');
  const named = Array.from((form as HTMLFormElement)?.elements ?? [], field =>
    field.getAttribute('name'),
  );
  expect(new Set(named.filter(Boolean))).toEqual(new Set([...FIELDS, 'resume', HONEYPOT]));
  expect(page.querySelector<HTMLInputElement>('[name=position]')?.value).toBe(
    'Computer Vision Intern',
  );
  expect(page.querySelector('[name=resume]')?.matches('[required]:not(.sr-only)')).toBe(true);
  const buttons = Array.from(page.querySelectorAll('button'), button => button.textContent);
  expect(buttons).toEqual(['Submit Application']);
});

test('an unknown position shows the not-found page', () => {
  expect(rendered('/careers/no-such-position').textContent).toContain('Position Not Found');
  expect(rendered('/careers/apply/3').textContent).toContain('Position Not Found');
});

test('a résumé chosen before hydration is kept and sent', async () => {
  const page = rendered(ADDRESS);
  const picker = page.querySelector('[name=resume]') ?? page;
  await setupUser().upload(picker as HTMLInputElement, new File(['%PDF-1.7'], 'early.pdf'));
  show(page);
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

test('an open position shows its deadline and related positions', () => {
  show();
  expect(screen.getByText('December 31, 2027').getAttribute('datetime')).toBe('2027-12-31');
  const related = within(screen.getByRole('region', { name: 'Related Positions' }));
  const links = related.getAllByRole('link').map(link => link.getAttribute('href'));
  expect(links).toHaveLength(3);
  expect(links).not.toContain(ADDRESS);
});

test('a closed position shows an e-mail address, not a form', () => {
  vi.setSystemTime(AFTER_CLOSING);
  show();
  expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('AI Intern: closed');
  expect(document.querySelector('form')).toBeNull();
  expect(document.querySelector('script[type="application/ld+json"]')).toBeNull();
  const now = within(screen.getByRole('region', { name: 'Open Now' }));
  expect(now.getByRole('link').getAttribute('href')).toMatch(/^mailto:/);
});

test('an outdated prerendered page hydrates, then says “closed”', () => {
  const page = rendered(ADDRESS);
  expect(page.textContent).toContain('What you bring');
  vi.setSystemTime(AFTER_CLOSING);
  show(page);
  expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('AI Intern: closed');
});
