import { within } from '@testing-library/dom';
import { expect, test } from 'vitest';
import { attributesOf, builtPage, textContentsOf } from '../../../kit/testing/built-site.ts';

test('the header has seven links, six services, Get Demo (section 2)', () => {
  const { document, page } = builtPage('/');
  const main = page.getByRole('navigation', { name: 'Main' });
  const links = Array.from(main.querySelectorAll(':scope > ul > li > a'));
  expect(links.map(link => `${link.textContent} ${link.getAttribute('href')}`)).toEqual([
    'Home /',
    'About /about',
    'Solutions /solutions',
    'Services /services',
    'Blogs /blog',
    'Contact /contact',
    'Careers /careers',
  ]);
  const panel = Array.from(main.querySelectorAll('li ul a'));
  expect(textContentsOf(panel)).toEqual([
    'Retail SecurityShop and wholesale security',
    'Bank SecurityFinancial institutions',
    'Industry SafetySmart factories',
    'Traffic SafetyPublic safety',
    'Smart CitiesGovernment infrastructure',
    'Corporate SecurityOffices and residential',
  ]);
  expect(panel.map(link => link.querySelectorAll(':scope > svg').length)).toEqual(Array(6).fill(1));
  const [demo] = Array.from(document.querySelectorAll('.site-header a')).filter(
    link => link.textContent === 'Get Demo',
  );
  expect(demo?.getAttribute('href')).toBe('/contact');
});

test('the footer has links, contact details and year (section 2)', () => {
  const footer = within(builtPage('/no-such-page').page.getByRole('contentinfo'));
  const targets = attributesOf(footer.getAllByRole('link'), 'href');
  for (const path of [
    ...['/', '/about', '/services', '/solutions', '/blog', '/contact', '/privacy', '/terms'],
    '/services/retail-wholesale-high-risk',
    '/services/banks-atms-financial',
    '/services/industry-smart-factories',
    '/services/smart-cities-infrastructure',
    'mailto:admin@oculant.example',
  ]) {
    expect(targets).toContain(path);
  }
  expect(targets.filter(target => target?.startsWith('https://'))).toHaveLength(4);
  footer.getByText('+91 44 0000 0000');
  footer.getByText(/Chennai/);
  const { parentElement: copyright } = footer.getByText(String(new Date().getFullYear()));
  expect(copyright?.textContent).toMatch(/^© \d{4} Oculant$/);
});
