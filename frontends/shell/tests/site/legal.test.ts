import { within } from '@testing-library/dom';
import { expect, test } from 'vitest';
import { builtPage } from '../../../kit/testing/built-site.ts';

const UPDATED = /April 30, 2025/;

test('the privacy policy has nine sections (sections 2 and 9)', () => {
  const { main } = builtPage('/privacy');
  main.getByText(UPDATED);
  expect(main.getAllByRole('heading', { level: 2 })).toHaveLength(9);
  for (const name of [/collect/i, /use/i, /disclos|share/i, /retain|retention|keep/i, /rights/i]) {
    expect(main.getAllByRole('heading', { level: 2, name }).length).toBeGreaterThan(0);
  }
  for (const words of [/portab/i, /withdraw/i, /complain/i, /under (the age of )?16/i, /Chennai/]) {
    expect(main.getAllByText(words).length).toBeGreaterThan(0);
  }
  expect(main.getAllByText(/@oculant\.example/).length).toBeGreaterThan(0);
});

test('the privacy policy tells what every form sends, for how long it is kept, and who reads it', () => {
  const { main } = builtPage('/privacy');
  for (const words of [
    /utm_source, utm_medium, utm_campaign, utm_term, and utm_content/,
    /the path of the page with the form/,
    /your résumé and the name of its file/,
    /kept for 365 days after it arrived or was last handed on/,
    /not confirmed within 48 hours/,
    /kept like any form, for 365 days/,
    /neither your network address nor your browser/,
    /counts how often each page is loaded/,
    /no person and no visit can be told from another/,
    /in the tools they work with: contact messages by our sales staff, applications by those/,
    /carry our mail or run those tools/,
    /erase it from our systems/,
    /backups[^.]*removed after 30 days/i,
  ]) {
    main.getByText(words);
  }
});

test('the terms have seven sections (sections 2 and 9)', () => {
  const { main } = builtPage('/terms');
  main.getByText(UPDATED);
  expect(main.getAllByRole('heading', { level: 2 })).toHaveLength(7);
  for (const words of [/accurate/i, /revocable/i, /liab/i, /Chennai/, /30 days/]) {
    expect(main.getAllByText(words).length).toBeGreaterThan(0);
  }
});

test.each(['/privacy', '/terms', '/contact'])(
  '%s has an icon and a breadcrumb (section 2)',
  route => {
    const header = builtPage(route).document.querySelector<HTMLElement>('main header');
    if (!header) {
      throw new Error(`${route} has no header`);
    }
    expect(header.querySelector('svg')).not.toBeNull();
    const breadcrumb = within(header).getByRole('navigation', { name: 'Breadcrumb' });
    const home = within(breadcrumb).getByRole('link', { name: 'Home' });
    expect(home.getAttribute('href')).toBe('/');
  },
);
