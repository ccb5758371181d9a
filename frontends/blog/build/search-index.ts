import MiniSearch from 'minisearch';
import { searchOptions } from '../src/search-options.ts';
import { plain } from './article-html.ts';
import { readPost } from './post.ts';

export function searchIndexOf(
  files: readonly { name: string; source: string }[],
  leftOut: readonly string[],
): string {
  const index = new MiniSearch(searchOptions(leftOut));
  for (const { name, source } of files) {
    const { summary, headings, html } = readPost(name, source);
    index.add({
      id: summary.id,
      title: summary.title,
      about: [summary.excerpt, summary.category, ...headings.map(({ text }) => text)].join(' '),
      text: plain(html.replace(/<[^>]+>/g, ' ').replace(/&\w+;/g, ' ')),
    });
  }
  return JSON.stringify(index);
}
