import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Validator from '@adobe/structured-data-validator';
import WebAutoExtractor from '@marbec/web-auto-extractor';
import { HtmlValidate } from 'html-validate';
import { describe, expect, test } from 'vitest';
import { validateXML } from 'xmllint-wasm';
import {
  attributesOf,
  builtPage,
  builtRoutes,
  builtText,
  sitemapPages,
  unlistedPages,
} from '../../../kit/testing/built-site.ts';
import { REFUSED, SAMPLES } from '../../../kit/testing/sample-paths.ts';

const pages = sitemapPages();
const unlisted = unlistedPages();
const validator = new HtmlValidate({
  extends: ['html-validate:standard', 'html-validate:document', 'html-validate:a11y'],
  rules: {
    // React's ids begin with an underscore, which HTML allows.
    'valid-id': ['error', { relaxed: true }],
    // All files are from our own origin.
    'require-sri': 'off',
  },
});

/** Titles that differ from the heading. */
const TITLES: Readonly<Record<string, string>> = {
  '/': 'Oculant: Your cameras already see it. Now someone notices.',
  '/about': 'About | Oculant',
  '/contact': 'Contact | Oculant',
  '/blog': 'Blog | Oculant',
  '/services': 'Services | Oculant',
  '/solutions': 'Solutions | Oculant',
  '/careers': 'Careers | Oculant',
  '/blog/category/technology': 'Blog: Technology | Oculant',
  '/blog/category/trends': 'Blog: Trends | Oculant',
  '/blog/category/case-studies': 'Blog: Case Studies | Oculant',
};

describe.each(pages)('%s', path => {
  const { html, document } = builtPage(path);
  const content = (name: string) =>
    document.querySelector(`meta[property="${name}"]`)?.getAttribute('content');

  test('is valid HTML', async () => expect(await htmlErrors(html)).toEqual([]));

  test('has structured data that a validator accepts', async () => {
    const issues = await new Validator().validate(structuredData(html));
    expect(issues.filter(({ severity }) => severity === 'ERROR')).toEqual([]);
  });

  test('has canonical URL, title, description and preview', () => {
    expect(document.querySelectorAll('head title')).toHaveLength(1);
    expect(document.querySelectorAll('head meta[name="description"]')).toHaveLength(1);
    const address = `https://oculant.example${path}`;
    const canonical = document.querySelectorAll('link[rel="canonical"]');
    expect(attributesOf(canonical, 'href')).toEqual([address]);
    expect(content('og:url')).toBe(address);
    expect(content('og:title')).toBe(document.title);
    const picture = new URL(content('og:image') ?? 'missing:').pathname;
    expect(picture).toMatch(/\.(png|jpg)$/);
    expect(builtText(picture).length).toBeGreaterThan(1000);
  });

  test('has its name or heading as title', () => {
    const heading = document.querySelector('main h1')?.textContent;
    expect(document.title).toBe(TITLES[path] ?? `${heading} | Oculant`);
  });

  test('is readable without JavaScript', () => {
    const headings = document.querySelectorAll('main h1');
    expect(headings).toHaveLength(1);
    expect(headings[0]?.textContent).toMatch(/\w/);
    expect(html).not.toContain('Loading…');
  });

  test('has no link of ours that leads nowhere', () => expectLinksToLead(path));
});

describe.each(unlisted)('%s, which the sitemap does not list,', path => {
  const { html, document } = builtPage(path);

  test('is valid HTML', async () => expect(await htmlErrors(html)).toEqual([]));

  test('asks not to be indexed', () => {
    const robots = document.querySelectorAll('head meta[name="robots"]');
    expect(attributesOf(robots, 'content')).toEqual(['noindex']);
    expect(document.querySelector('link[rel="canonical"]')).toBeNull();
  });

  test('has its heading as title and is readable without JavaScript', () => {
    const heading = document.querySelector('main h1')?.textContent;
    expect(document.title).toBe(`${heading} | Oculant`);
    expect(html).not.toContain('Loading…');
  });

  test('has no link of ours that leads nowhere', () => expectLinksToLead(path));
});

test('refusal pages have all placeholders and no scripts', () => {
  const refused = unlisted.filter(path => builtPage(path).html.includes('{{'));
  expect(refused.toSorted()).toEqual(REFUSED.toSorted());
  for (const path of refused) {
    const { document } = builtPage(path);
    expect(document.querySelector('[role=alert]')?.textContent, path).toBe('{{refusal}}');
    const fields = Array.from(document.querySelectorAll('form :is(input, textarea)'));
    // The page for a refused newsletter link has no form.
    const hasForm = path !== SAMPLES.notAnswered;
    expect(document.querySelectorAll('form'), path).toHaveLength(hasForm ? 1 : 0);
    expect(fields.length > 1, path).toBe(hasForm);
    for (const field of fields.filter(field => !field.closest('[hidden]'))) {
      const name = field.getAttribute('name');
      expect(field.getAttribute('aria-invalid'), path).toBe(`{{invalid:${name}}}`);
      const described = field.getAttribute('aria-describedby')?.split(' ') ?? [];
      const descriptions = described.map(id => document.getElementById(id)?.textContent);
      expect(descriptions, path).toContain(`{{error:${name}}}`);
      const value = field.getAttribute('value') ?? field.textContent;
      expect(value, path).toBe(name === 'resume' ? '' : `{{text:${name}}}`);
    }
    // Only inline scripts run, such as the one that sets the theme.
    const files = document.querySelectorAll(
      'script[src], meta[name=app-script], meta[name=deferred-preload]',
    );
    expect(files, path).toHaveLength(0);
  }
});

async function htmlErrors(html: string): Promise<string[]> {
  const { results } = await validator.validateString(html);
  return results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, selector }) => `${ruleId}: ${message} (${selector})`),
  );
}

function expectLinksToLead(path: string) {
  const links = builtPage(path).document.querySelectorAll('a[href]');
  for (const href of attributesOf(links, 'href')) {
    const { origin, pathname, hash } = new URL(href ?? '', `http://localhost${path}`);
    if (origin === 'http://localhost') {
      expect(addresses, href ?? '').toContain(pathname);
      const anchor = decodeURIComponent(hash.slice(1));
      expect(anchor === '' || idsOf(pathname).has(anchor), href ?? '').toBe(true);
    }
  }
}

const addresses = [...pages, ...unlisted, ...builtRoutes().redirects.map(({ from }) => from)];

test('every listed title belongs to a page', () => {
  expect(pages).toEqual(expect.arrayContaining(Object.keys(TITLES)));
});

test.each([
  ['title', 'title'],
  ['description', 'meta[name="description"]'],
  ['picture', 'meta[property="og:image"]'],
])('no two pages have the same %s', (_, selector) => {
  const values = pages.map(path => {
    const element = builtPage(path).document.querySelector(`head ${selector}`);
    return [element?.getAttribute('content') ?? element?.textContent, path] as const;
  });
  const first = new Map(values.toReversed());
  expect(values.filter(([value, path]) => first.get(value) !== path)).toEqual([]);
});

test('structured data covers company, articles, questions and jobs', () => {
  const types = new Set(
    pages.flatMap(path => Object.keys(structuredData(builtPage(path).html).jsonld)),
  );
  expect([...types].toSorted()).toEqual([
    ...['Article', 'BreadcrumbList', 'FAQPage', 'JobPosting', 'Organization', 'ProfilePage'],
  ]);
  const home = structuredData(builtPage('/').html);
  expect(home.jsonld['Organization']).toMatchObject([{ foundingDate: '2024' }]);
});

test.each([
  ['blog/feed.xml', 'atom.rng', 'relaxng'],
  ['sitemap.xml', 'sitemap.xsd', 'schema'],
] as const)('%s matches its schema %s', async (file, schema, extension) => {
  const { errors } = await validateXML({
    xml: [{ fileName: 'file.xml', contents: builtText(file) }],
    schema: [readFileSync(join(import.meta.dirname, 'schemas', schema), 'utf8')],
    extension,
  });
  expect(errors.map(({ message }) => message)).toEqual([]);
});

function structuredData(html: string) {
  return new WebAutoExtractor({ addLocation: true }).parse(html);
}

function idsOf(path: string): Set<string> {
  const all = builtPage(path).document.querySelectorAll('[id]');
  return new Set(Array.from(all, ({ id }) => id));
}
