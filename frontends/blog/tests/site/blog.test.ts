import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { within } from '@testing-library/dom';
import { Window } from 'happy-dom';
import { describe, expect, test } from 'vitest';
import { dist } from '../../../build/file-paths.ts';
import {
  attributesOf,
  builtPage,
  builtText,
  sitemapPages,
  textContentsOf,
} from '../../../kit/testing/built-site.ts';

const SITE = 'https://oculant.example';
const articles = sitemapPages().filter(path => /^\/blog\/[^/]+$/.test(path));

test('the list shows six articles and three pages (section 2)', () => {
  const { page } = builtPage('/blog');
  const list = page.getByRole('region', { name: 'Latest Articles' });
  expect(within(list).getAllByRole('article')).toHaveLength(6);
  const pages = within(page.getByRole('navigation', { name: 'Pages' })).getAllByRole('link');
  expect(pages.map(link => [link.textContent, link.getAttribute('href')])).toEqual([
    ['Previous', null],
    ['1', '/blog#articles'],
    ['2', null],
    ['3', null],
    ['Next', null],
  ]);
  expect(attributesOf(pages, 'aria-disabled')).toEqual(['true', null, 'true', 'true', 'true']);
});

test.each([
  ['technology', '2 articles in Technology', 2],
  ['trends', '1 article in Trends', 1],
  ['case-studies', '1 article in Case Studies', 1],
])('the category %s has a page and a link', (slug, sentence, count) => {
  const path = `/blog/category/${slug}`;
  const categories = builtPage('/blog').page.getByRole('navigation', { name: 'Categories' });
  const links = within(categories).getAllByRole('link');
  expect(attributesOf(links, 'href')).toContain(`${path}#articles`);
  const { page } = builtPage(path);
  const list = page.getByRole('region', { name: 'Latest Articles' });
  expect(within(list).getByRole('status').textContent).toBe(sentence);
  expect(within(list).getAllByRole('article')).toHaveLength(count);
  const chosen = within(page.getByRole('navigation', { name: 'Categories' }))
    .getAllByRole('link')
    .filter(link => link.getAttribute('aria-current') === 'true');
  expect(attributesOf(chosen, 'href')).toEqual([`${path}#articles`]);
});

test('an article shows author, date and share links (section 2)', () => {
  const { page, main } = builtPage('/blog/ai-advancements');
  for (const text of [/April 15, 2025/, /10 min read/, /By the CTO/]) {
    expect(main.getAllByText(text).length).toBeGreaterThan(0);
  }
  const byline = main.getAllByRole('link', { name: 'By the CTO' });
  expect(attributesOf(byline, 'href')).toEqual(['/blog/author/cto']);
  const facebook = page.getByRole('link', { name: /Facebook/ });
  expect(facebook.getAttribute('href')).toBe(
    'https://www.facebook.com/sharer/sharer.php?u=https%3A%2F%2Foculant.example%2Fblog%2Fai-advancements',
  );
  const shares = page.getAllByRole('link', { name: /Facebook|Twitter|LinkedIn/ });
  expect(attributesOf(shares, 'target')).toEqual(Array(3).fill('_blank'));
  expect(attributesOf(shares, 'rel')).toEqual(Array(3).fill('noopener'));
});

test('the author has a page with all articles', () => {
  const { page } = builtPage('/blog/author/cto');
  const list = within(page.getByRole('region', { name: 'All Articles' }));
  const links = attributesOf(list.getAllByRole('link'), 'href');
  expect(links.toSorted()).toEqual(articles.toSorted());
});

test('previous and next links connect all articles', () => {
  const neighbour = (path: string, rel: string) =>
    builtPage(path).document.querySelector(`main a[rel=${rel}]`)?.getAttribute('href');
  const [newest, ...others] = articles.filter(path => !neighbour(path, 'next'));
  expect(others).toEqual([]);
  const way = [newest ?? ''];
  for (let path = neighbour(way[0] ?? '', 'prev'); path; path = neighbour(path, 'prev')) {
    expect(neighbour(path, 'next')).toBe(way.at(-1));
    way.push(path);
  }
  expect(way.toSorted()).toEqual(articles.toSorted());
});

test.each(articles)('%s links its footnotes both ways', path => {
  const { document } = builtPage(path);
  const references = document.querySelectorAll('[data-footnotes] > ol > li');
  expect(references.length).toBeGreaterThan(2);
  for (const reference of references) {
    expect(document.querySelector(`.article sup a[href="#${reference.id}"]`)).not.toBeNull();
    const back = reference.querySelector('[data-footnote-backref]');
    const target = back?.getAttribute('href')?.slice(1) ?? '';
    expect(document.getElementById(target)?.closest('sup'), target).toBeTruthy();
  }
  const contents = builtPage(path).page.getByRole('navigation', { name: 'On this page' });
  expect(textContentsOf(contents.querySelectorAll('li')).at(-1)).toBe('References');
});

interface Item {
  url: string;
  html: string;
  published: string;
  modified: string;
}

const feeds: Record<string, () => Item[]> = {
  'blog/feed.xml': () =>
    builtText('blog/feed.xml')
      .split('<entry>')
      .slice(1)
      .map(entry => {
        const text = (name: string) =>
          new RegExp(`<${name}[^>]*>(?:<!\\[CDATA\\[)?(.*?)(?:\\]\\]>)?</${name}>`, 's').exec(
            entry,
          )?.[1] ?? '';
        return {
          url: text('id'),
          html: text('content'),
          published: text('published'),
          modified: text('updated'),
        };
      }),
  'blog/feed.json': () =>
    JSON.parse(builtText('blog/feed.json')).items.map((item: Record<string, string>) => ({
      url: item['url'],
      html: item['content_html'],
      published: item['date_published'],
      modified: item['date_modified'],
    })),
};

describe.each(Object.entries(feeds))('%s', (_, read) => {
  const items = read();

  test('lists all articles with their dates', () => {
    expect(items.map(({ url }) => url).toSorted()).toEqual(
      articles.map(path => SITE + path).toSorted(),
    );
    for (const { url, published, modified } of items) {
      const { document } = builtPage(url.slice(SITE.length));
      const days = attributesOf(document.querySelectorAll('article header time'), 'datetime');
      expect([published, modified].map(time => time.slice(0, 10))).toEqual([days[0], days.at(-1)]);
    }
  });

  test('holds each full article with absolute URLs', () => {
    for (const { url, html } of items) {
      const { document } = builtPage(url.slice(SITE.length));
      const shown = new Window({ url: 'https://reader.example/' });
      shown.document.body.innerHTML = html;
      const text = shown.document.body as unknown as Element;
      expect(text.textContent?.trim()).toBe(
        document.querySelector('.article')?.textContent?.trim(),
      );
      const addresses = [
        ...attributesOf(text.querySelectorAll('a[href]'), 'href'),
        ...attributesOf(text.querySelectorAll('img'), 'src'),
      ];
      expect(addresses.length).toBeGreaterThan(4);
      expect(addresses.filter(address => !/^https:\/\//.test(address ?? ''))).toEqual([]);
      const own = addresses.filter(address => address?.startsWith(`${url}#`));
      for (const address of own) {
        expect(document.getElementById(address?.split('#')[1] ?? ''), address ?? '').toBeTruthy();
      }
    }
  });
});

test('the JSON feed follows version 1', () => {
  const feed = JSON.parse(builtText('blog/feed.json'));
  expect(feed).toMatchObject({
    version: 'https://jsonfeed.org/version/1',
    title: 'Oculant: Blog',
    home_page_url: `${SITE}/blog`,
    feed_url: `${SITE}/blog/feed.json`,
  });
  const time = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
  for (const item of feed.items) {
    expect(item).toMatchObject({
      id: item.url,
      title: expect.stringMatching(/\w/),
      content_html: expect.stringMatching(/<h2/),
      summary: expect.stringMatching(/\w/),
      date_published: time,
      date_modified: time,
      author: { name: 'CTO, Oculant', url: `${SITE}/blog/author/cto` },
      tags: [expect.any(String)],
    });
  }
  const links = builtPage('/blog').document.querySelectorAll('link[rel=alternate]');
  expect(attributesOf(links, 'href')).toEqual(['/blog/feed.xml', '/blog/feed.json']);
});

test('the sitemap says when each article last changed', () => {
  const sitemap = builtText('sitemap.xml');
  for (const path of articles) {
    const times = builtPage(path).document.querySelectorAll('article header time');
    const day = attributesOf(times, 'datetime').at(-1);
    expect(sitemap).toContain(`<loc>${SITE}${path}</loc><lastmod>${day}</lastmod>`);
  }
});

test('the sitemap dates each list by its newest change', () => {
  const sitemap = builtText('sitemap.xml');
  const dayOf = (path: string) =>
    sitemap.split(`<loc>${SITE}${path}</loc><lastmod>`)[1]?.slice(0, 10);
  const newest = articles.map(dayOf).toSorted().at(-1);
  expect(dayOf('/blog')).toBe(newest);
  expect(dayOf('/blog/author/cto')).toBe(newest);
  for (const list of sitemapPages().filter(path => path.startsWith('/blog/category/'))) {
    const shown = attributesOf(
      builtPage(list).document.querySelectorAll('main li time'),
      'datetime',
    );
    expect(shown.length).toBeGreaterThan(0);
    expect(dayOf(list)).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect((dayOf(list) ?? '') >= (shown.toSorted().at(-1) ?? 'no day')).toBe(true);
  }
});

test('an author’s page loads only its first picture eagerly', () => {
  const cards = builtPage('/blog/author/cto').document.querySelectorAll('main li [data-state]');
  expect(attributesOf(cards, 'data-state')).toEqual(['loading', ...Array(5).fill('waiting')]);
});

test('search code is 25 kB at most, in no page', () => {
  const folder = 'remotes/blog/assets';
  const files = readdirSync(join(dist, folder)).filter(name => /^search\.\w+\.js$/.test(name));
  expect(files).toHaveLength(1);
  const [file] = files;
  expect(readFileSync(join(dist, folder, `${file}.br`)).length).toBeLessThanOrEqual(25_000);
  expect(sitemapPages().filter(path => builtPage(path).html.includes(`/${file}`))).toEqual([]);
});
