// @vitest-environment happy-dom
import { socials } from '@site/kit/brand-lists.ts';
import { BrowserRouter } from '@site/kit/router.ts';
import { fireEvent, render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { advanceTimers } from '../../../kit/testing/fake-time.ts';
import { Footer } from './footer.tsx';

test.each(socials)('the icon of $label has a tooltip', async ({ label }) => {
  vi.useFakeTimers();
  render(
    <BrowserRouter>
      <Footer />
    </BrowserRouter>,
  );
  fireEvent.pointerEnter(screen.getByRole('link', { name: label }), { pointerType: 'mouse' });
  await advanceTimers(700);
  expect(screen.getByText(label)).toBeTruthy();
});
