import { brand } from '@site/kit/brand.ts';
import * as paths from '@site/kit/paths.ts';
import { Feed } from 'feed';
import { authorOf } from './author.ts';
import { posts } from './posts.ts';

const address = brand.siteUrl + paths.blog;

function atom(): string {
  const feed = new Feed({
    id: address,
    link: address,
    title: `${brand.name}: Blog`,
    copyright: brand.name,
    updated: new Date(posts[0]?.date ?? 0),
    feedLinks: { atom: `${address}/feed.xml` },
  });
  for (const post of posts) {
    const url = brand.siteUrl + paths.article(post.id);
    feed.addItem({
      id: url,
      link: url,
      title: post.title,
      description: post.excerpt,
      date: new Date(post.date),
      author: [{ name: `${authorOf(post).name}, ${brand.name}` }],
      category: [{ name: post.category, term: post.category }],
    });
  }
  return feed.atom1();
}

/** All articles for feed readers (Atom, RFC 4287). */
export const feed: string = atom();
