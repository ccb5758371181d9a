import { describe, expect, test } from 'vitest';
import {
  builtPage,
  builtText,
  sitemapPages,
  textContentsOf,
} from '../../../kit/testing/built-site.ts';

// https://developers.google.com/search/docs/appearance/structured-data

const SITE = 'https://oculant.example';
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(Z|[+-]\d{2}:\d{2})$/;

type Thing = Record<string, unknown> & { '@type': string };

const pages = sitemapPages();
const articles = pages.filter(path => /^\/blog\/[^/]+$/.test(path));
const positions = pages.filter(path => /^\/careers\/(?!apply$)[^/]+$/.test(path));

function told(path: string, type: string): Thing[] {
  const { document } = builtPage(path);
  return textContentsOf(document.querySelectorAll('script[type="application/ld+json"]'))
    .map((text): Thing => JSON.parse(text))
    .filter(thing => thing['@type'] === type);
}

function only(path: string, type: string): Thing {
  const [thing, ...others] = told(path, type);
  expect(others, `one ${type} on ${path}`).toEqual([]);
  if (!thing) {
    throw new Error(`${path} has no ${type}`);
  }
  return thing;
}

function isThere(address: unknown): boolean {
  const { origin, pathname } = new URL(String(address));
  const isPage = pages.includes(pathname);
  return origin === SITE && (isPage || builtText(pathname).length > 1000);
}

test('only their own pages describe jobs and articles', () => {
  expect(articles.length).toBeGreaterThan(5);
  expect(positions.length).toBeGreaterThan(0);
  expect(pages.filter(path => told(path, 'JobPosting').length > 0)).toEqual(positions);
  expect(pages.filter(path => told(path, 'Article').length > 0)).toEqual(articles);
});

describe.each(positions)('%s', path => {
  const job = only(path, 'JobPosting');
  const { document } = builtPage(path);
  const main = document.querySelector('main')?.textContent ?? '';

  test('has a JobPosting with all required fields', () => {
    expect(job).toMatchObject({
      title: document.querySelector('h1')?.textContent,
      datePosted: expect.stringMatching(DAY),
      hiringOrganization: {
        '@type': 'Organization',
        name: 'Oculant',
        sameAs: SITE,
        logo: expect.stringMatching(/\.png$/),
      },
      jobLocation: {
        '@type': 'Place',
        address: {
          '@type': 'PostalAddress',
          streetAddress: expect.stringMatching(/\w/),
          addressLocality: 'Chennai',
          addressRegion: 'Tamil Nadu',
          addressCountry: 'IN',
        },
      },
    });
    // Google wants only the job's name: no code, place, company or date.
    expect(job['title']).toMatch(/^[\w /]+ Intern$/);
  });

  test('has the recommended fields that we know', () => {
    expect(job).toMatchObject({
      validThrough: expect.stringMatching(TIME),
      employmentType: 'INTERN',
      directApply: true,
      identifier: { '@type': 'PropertyValue', name: 'Oculant', value: path.split('/').at(-1) },
      jobLocationType: 'TELECOMMUTE',
      applicantLocationRequirements: { '@type': 'Country', name: 'India' },
      url: SITE + path,
    });
    const { validThrough, datePosted } = job as unknown as Record<string, string>;
    expect(Date.parse(validThrough ?? '')).toBeGreaterThan(Date.now());
    expect(Date.parse(datePosted ?? '')).toBeLessThan(Date.now());
  });

  test('describes remote work as TELECOMMUTE requires', () => {
    expect(job['description']).toMatch(/fully remote .* from anywhere in India, or in Chennai/);
    expect(job['description']).toContain('students and freshers');
  });

  test('shows people the same text and has the form', () => {
    const words = String(job['description'])
      .split(/<[^>]+>/)
      .filter(Boolean);
    expect(words.length).toBeGreaterThan(7);
    expect(words.filter(each => !main.includes(each))).toEqual([]);
    expect(document.querySelector('main form[action="/api/career-application"]')).not.toBeNull();
    const days = Array.from(document.querySelectorAll('main time'), time =>
      time.getAttribute('datetime'),
    );
    expect(days).toEqual([job['datePosted'], String(job['validThrough']).slice(0, 10)]);
  });
});

describe.each(articles)('%s', path => {
  const article = only(path, 'Article');

  test('has an Article with headline, picture, dates and author', () => {
    const { document } = builtPage(path);
    expect(article).toMatchObject({
      headline: document.querySelector('h1')?.textContent,
      image: expect.stringMatching(/\.jpg$/),
      datePublished: expect.stringMatching(TIME),
      dateModified: expect.stringMatching(TIME),
      author: {
        '@type': expect.stringMatching(/^(Person|Organization)$/),
        name: expect.any(String),
      },
      publisher: { name: 'Oculant' },
      mainEntityOfPage: SITE + path,
    });
    expect(isThere(article['image'])).toBe(true);
    expect(isThere((article['author'] as Thing)['url'])).toBe(true);
    const [published, modified] = [article['datePublished'], article['dateModified']].map(String);
    expect((modified ?? '') >= (published ?? '')).toBe(true);
    const shown = Array.from(document.querySelectorAll('article header time'), time =>
      time.getAttribute('datetime'),
    );
    expect(shown).toEqual([...new Set([published, modified].map(time => time?.slice(0, 10)))]);
  });
});

const trails = pages.filter(path => told(path, 'BreadcrumbList').length > 0);

test('articles, authors, positions and services have breadcrumbs', () => {
  const deep = pages.filter(path =>
    /^\/(blog\/(?!category)|careers\/(?!apply)|services\/)/.test(path),
  );
  expect(deep.length).toBeGreaterThan(20);
  expect(trails).toEqual(expect.arrayContaining(deep));
});

test.each(trails)('%s has breadcrumbs from the home page to itself', path => {
  const trail = only(path, 'BreadcrumbList')['itemListElement'] as Thing[];
  expect(trail.length).toBeGreaterThan(1);
  expect(trail.map(({ position }) => position)).toEqual(trail.map((_, at) => at + 1));
  for (const step of trail) {
    expect(step).toMatchObject({ '@type': 'ListItem', name: expect.stringMatching(/\w/) });
    expect(isThere(step['item']), String(step['item'])).toBe(true);
  }
  expect(trail[0]?.['item']).toBe(`${SITE}/`);
  expect(trail.at(-1)?.['item']).toBe(SITE + path);
});
