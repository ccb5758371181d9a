import { parse } from 'yaml';
import type { Post } from '../src/post.ts';
import { categories } from '../src/post.ts';
import { articleTextOf, plain } from './article-html.ts';

const WORDS_PER_MINUTE = 200;
const FRONT_MATTER = /^---\n(.*?)\n---\n(.*)$/s;
/** Fallback for an article without an image. */
const ANY_IMAGE = {
  image: 'kiosk.svg',
  pictureAlt: 'Line drawing of a newsstand on a square, with people who read.',
};

/** Parses an article. Throws an error that names the mistake in an invalid article. */
export function readPost(file: string, source: string): Post {
  const [, head, body] = FRONT_MATTER.exec(source) ?? [];
  if (head === undefined || body === undefined) {
    throw new Error(`${file} does not begin with front matter between two lines of ---`);
  }
  const values: Record<string, unknown> = Object(yamlIn(file, head));
  return {
    summary: summaryOf(file, values, body),
    image: 'image' in values ? textIn(file, values, 'image') : ANY_IMAGE.image,
    ...articleTextOf(file, body),
  };
}

function dayText(day: string): string {
  return new Date(day).toLocaleDateString('en-US', { dateStyle: 'long', timeZone: 'UTC' });
}

function yamlIn(file: string, head: string): unknown {
  try {
    return parse(head);
  } catch (failure) {
    throw new Error(`${file} has front matter that is no YAML`, { cause: failure });
  }
}

function textIn(file: string, values: Record<string, unknown>, name: string): string {
  const value = values[name];
  if (typeof value !== 'string' || value.trim() === '') {
    throw new Error(`${file} has no ${name} in its front matter, or it is no text`);
  }
  return value.trim();
}

function summaryOf(file: string, values: Record<string, unknown>, body: string): Post['summary'] {
  const text = (name: string) => textIn(file, values, name);
  const category = categories.find(known => known === text('category'));
  if (!category) {
    throw new Error(
      `${file} has the category "${text('category')}"; known are ${categories.join(', ')}`,
    );
  }
  const date = dayIn(file, text('date'));
  const modified = 'modified' in values ? dayIn(file, text('modified')) : undefined;
  if (modified !== undefined && modified < date) {
    throw new Error(`${file} was modified on ${modified}, before its date`);
  }
  const id = text('id');
  if (`${id}.md` !== file) {
    throw new Error(`${file} has the id "${id}"; both are its address and must be the same`);
  }
  return {
    id,
    title: text('title'),
    excerpt: text('excerpt'),
    date,
    dateText: dayText(date),
    ...(modified ? { modified, modifiedText: dayText(modified) } : {}),
    category,
    author: text('author'),
    authorTitle: text('authorTitle'),
    readMinutes: Math.max(1, Math.round(wordsIn(body) / WORDS_PER_MINUTE)),
    pictureAlt: 'image' in values ? text('pictureAlt') : ANY_IMAGE.pictureAlt,
  };
}

function dayIn(file: string, day: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day) || Number.isNaN(Date.parse(day))) {
    throw new Error(`${file} has the date "${day}"; write it as "2025-04-15"`);
  }
  return day;
}

function wordsIn(body: string): number {
  return plain(body)
    .split(/\s+/)
    .filter(word => /[\p{L}\p{N}]/u.test(word)).length;
}
