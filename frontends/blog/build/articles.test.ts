import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPost } from './post.ts';

const folder = join(import.meta.dirname, '../posts');
const articles = readdirSync(folder)
  .map(file => readPost(file, readFileSync(join(folder, file), 'utf8')))
  .sort((a, b) => b.summary.date.localeCompare(a.summary.date));

test('the first six articles have the specified reading times', () => {
  const minutes = articles.map(({ summary }) => [summary.id, summary.readMinutes]);
  expect(minutes.slice(-6)).toEqual([
    ['ai-advancements', 10],
    ['privacy-security', 6],
    ['future-trends', 7],
    ['facial-recognition', 6],
    ['smart-home', 7],
    ['case-study', 8],
  ]);
});

test('the articles make the specified claims', () => {
  const textOf = (id: string) => articles.find(({ summary }) => summary.id === id)?.html;
  expect(textOf('ai-advancements')).toMatch(/transit authority .* 40% reduction of incidents/);
  expect(textOf('case-study')).toMatch(/retail chain .* 65% reduction in theft/);
});

test.each(articles.map(article => [article.summary.id, article] as const))(
  '%s has typographic quotes and more than four sections',
  (_, { summary, html, headings }) => {
    const words = `${summary.title} ${summary.excerpt} ${summary.pictureAlt} ${html.replace(/<[^>]+>/g, '')}`;
    expect(words).not.toMatch(/["']|&quot;|&#39;/);
    expect(headings.length).toBeGreaterThan(4);
  },
);

test.each(['title', 'excerpt', 'pictureAlt', 'date'] as const)(
  'no two articles share their %s',
  field => {
    const values = articles.map(({ summary }) => summary[field]);
    expect(new Set(values).size).toBe(values.length);
  },
);
