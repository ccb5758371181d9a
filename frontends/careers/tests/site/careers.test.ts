import { within } from '@testing-library/dom';
import { describe, expect, test } from 'vitest';
import {
  attributesOf,
  builtPage,
  builtRoutes,
  builtText,
  sitemapPages,
  textContentsOf,
} from '../../../kit/testing/built-site.ts';
import { dayAt, openOn } from '../../src/open-positions.ts';
import { positions } from '../../src/positions.ts';

const { document, page } = builtPage('/careers');
const region = (name: string) => within(page.getByRole('region', { name }));
const open = openOn(dayAt(Date.now()));

test('ten internships have requirements and benefits (sections 2, 3 and 9)', () => {
  expect(positions.map(({ title }) => title)).toEqual([
    'Marketing Intern',
    'Video Editing Intern',
    'Computer Vision Intern',
    'Data Annotation/Analytics Intern',
    'Business Development Intern',
    'AI Intern',
    'Backend Intern',
    'Frontend Intern',
    'Full Stack Intern',
    'Cloud Engineering Intern',
  ]);
  const list = page.getByRole('region', { name: 'Open Positions' });
  expect(textContentsOf(within(list).getAllByRole('heading', { level: 3 }))).toEqual(
    open.map(({ title }) => title),
  );
  const details = Array.from(list.querySelectorAll('details'), ({ textContent }) => textContent);
  for (const [at, { requirements, benefits }] of open.entries()) {
    for (const text of [
      'Internship · Remote / Chennai',
      'Student / Fresher',
      ...requirements,
      ...benefits,
    ]) {
      expect(details[at]).toContain(text);
    }
  }
});

test('the page lists three reasons and eight perks (sections 2 and 9)', () => {
  expect(region('Why Work With Us').getAllByRole('listitem')).toHaveLength(3);
  expect(region('Benefits and Perks').getAllByRole('listitem')).toHaveLength(8);
});

test('only a position’s own page has its JobPosting', () => {
  const told = (of: Document) =>
    textContentsOf(of.querySelectorAll('script[type="application/ld+json"]'))
      .map(text => JSON.parse(text))
      .filter(thing => thing['@type'] === 'JobPosting');
  expect(told(document)).toEqual([]);
  for (const { slug, title, opened } of open) {
    const [job, ...others] = told(builtPage(`/careers/${slug}`).document);
    expect(job).toMatchObject({ title, datePosted: opened, directApply: true });
    expect(others).toEqual([]);
  }
});

test('the sitemap has no modification date for positions', () => {
  const sitemap = builtText('sitemap.xml');
  for (const { slug } of open) {
    expect(sitemap).toContain(`/careers/${slug}</loc></url>`);
  }
});

describe.each(positions.map(position => [position.slug, position] as const))('%s', (slug, it) => {
  test('is open or closed by date, with a closed page', () => {
    const gone = builtRoutes().gone.find(({ path }) => path === `/careers/${slug}`);
    expect(gone?.since).toBe(Date.parse(`${it.closes}T23:59:59+05:30`) / 1000 + 1);
    expect(sitemapPages().includes(`/careers/${slug}`)).toBe(open.includes(it));
    const closed = builtPage(`/${gone?.page}`);
    expect(closed.main.getByRole('heading', { level: 1 }).textContent).toBe(`${it.title}: closed`);
    expect(attributesOf(closed.document.querySelectorAll('[name=robots]'), 'content')).toEqual([
      'noindex',
    ]);
    expect(
      closed.document.querySelector('form[action$=application], link[rel=canonical]'),
    ).toBeNull();
    const days = [dayAt((gone?.since ?? 0) * 1000), dayAt(Date.now())].toSorted();
    const others = openOn(days.at(-1) ?? '').map(other => `/careers/${other.slug}`);
    const now = within(closed.page.getByRole('region', { name: 'Open Now' }));
    expect(attributesOf(now.getAllByRole('link'), 'href')).toEqual(
      others.length > 0 ? others : ['mailto:careers@oculant.example'],
    );
  });
});
