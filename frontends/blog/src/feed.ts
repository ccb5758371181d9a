import { brand } from '@site/kit/brand.ts';
import * as paths from '@site/kit/paths.ts';
import { Feed } from 'feed';
import { authorOf } from './author.ts';
import type { PostSummary } from './post.ts';
import { lastChangeOf } from './post.ts';
import { loadText, posts } from './posts.ts';

const address = brand.siteUrl + paths.blog;

/** Full-text feeds by file name: Atom (RFC 4287) and JSON Feed (https://www.jsonfeed.org/version/1/). */
export async function feeds(): Promise<Record<string, string>> {
  const feed = new Feed({
    id: address,
    link: address,
    title: `${brand.name}: Blog`,
    copyright: brand.name,
    updated: new Date(posts.map(lastChangeOf).toSorted().at(-1) ?? 0),
    feedLinks: { atom: `${address}/feed.xml`, json: `${address}/feed.json` },
  });
  for (const post of posts) {
    feed.addItem(await itemOf(post));
  }
  return { 'blog/feed.xml': feed.atom1(), 'blog/feed.json': feed.json1() };
}

async function itemOf(post: PostSummary) {
  const url = brand.siteUrl + paths.article(post.id);
  const { html } = await loadText(post.id);
  const author = authorOf(post);
  return {
    id: url,
    link: url,
    title: post.title,
    description: post.excerpt,
    content: withAddresses(html, url),
    date: new Date(lastChangeOf(post)),
    published: new Date(post.date),
    author: [
      { name: `${author.name}, ${brand.name}`, link: brand.siteUrl + paths.author(author.slug) },
    ],
    category: [{ name: post.category, term: post.category }],
  };
}

/** Makes URLs absolute, because feed readers do not know the site's origin. */
function withAddresses(html: string, url: string): string {
  return html
    .replaceAll('href="#', `href="${url}#`)
    .replaceAll(/(href|src)="\//g, `$1="${brand.siteUrl}/`);
}
