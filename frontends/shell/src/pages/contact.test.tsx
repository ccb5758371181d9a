// @vitest-environment happy-dom
import { brand } from '@site/kit/brand.ts';
import { BrowserRouter } from '@site/kit/router.ts';
import { render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import Contact from './contact.tsx';

test('the page shows reply time, sales address, three ways (sections 2 and 9)', () => {
  render(
    <BrowserRouter>
      <Contact />
    </BrowserRouter>,
  );
  expect(screen.getByText(/within 24 hours, typically within 2 business hours/)).toBeTruthy();
  const { sales } = brand.emails;
  const [forBuyers] = screen.getAllByRole('link', { name: sales });
  expect(forBuyers?.getAttribute('href')).toBe(`mailto:${sales}`);
  for (const way of ['Email', 'Call', 'Visit']) {
    expect(screen.getByRole('heading', { name: way })).toBeTruthy();
  }
});
