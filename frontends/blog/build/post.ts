import type { Tokens } from 'marked';
import { Marked } from 'marked';
import { parse } from 'yaml';
import type { Heading, Post } from '../src/post.ts';
import { categories } from '../src/post.ts';

/** How many words a minute has. */
const WORDS_PER_MINUTE = 200;
const FRONT_MATTER = /^---\n(.*?)\n---\n(.*)$/s;
/** What an article shows that names no image. */
const ANY_IMAGE = {
  image: 'kiosk.svg',
  pictureAlt: 'Line drawing of a newsstand on a square, with people who read.',
};
/** The headings that the table of contents names. */
const SECTION = 2;

/** Reads an article: Markdown after front matter in YAML. Says in a sentence what is wrong with it. */
export function readPost(file: string, source: string): Post {
  const [, head, body] = FRONT_MATTER.exec(source) ?? [];
  if (head === undefined || body === undefined) {
    throw new Error(`${file} does not begin with front matter between two lines of ---`);
  }
  const values: Record<string, unknown> = Object(yamlIn(file, head));
  return {
    summary: summaryOf(file, values, body),
    image: 'image' in values ? textIn(file, values, 'image') : ANY_IMAGE.image,
    ...textOf(file, body),
  };
}

function textOf(file: string, body: string) {
  const headings: Heading[] = [];
  const taken = new Set<string>();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const id = slugOf(text);
        if (taken.has(id)) {
          throw new Error(`${file} has two headings that a link finds at #${id}; reword one`);
        }
        taken.add(id);
        if (depth === SECTION) {
          headings.push({ id, text: plain(text) });
        }
        const inner = this.parser.parseInline(tokens);
        return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${inner}</a></h${depth}>\n`;
      },
      // A wide table scrolls within itself; the keyboard must reach it.
      table({ header, rows }) {
        const label = header
          .map(({ text }) => plain(text))
          .join(', ')
          .replaceAll('"', '&quot;');
        const cell = ({ tokens, header }: Tokens.TableCell) =>
          `<${header ? 'th' : 'td'}>${this.parser.parseInline(tokens)}</${header ? 'th' : 'td'}>`;
        const row = (cells: readonly Tokens.TableCell[]) => `<tr>${cells.map(cell).join('')}</tr>`;
        return (
          `<section class="table" aria-label="Table: ${label}" tabindex="0"><table>` +
          `<thead>${row(header)}</thead><tbody>${rows.map(row).join('')}</tbody></table></section>\n`
        );
      },
    },
  });
  return { html: marked.parse(body, { async: false }), headings };
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
  const date = text('date');
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date) || Number.isNaN(Date.parse(date))) {
    throw new Error(`${file} has the date "${date}"; write it as "2025-04-15"`);
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
    dateText: new Date(date).toLocaleDateString('en-US', { dateStyle: 'long', timeZone: 'UTC' }),
    category,
    author: text('author'),
    authorTitle: text('authorTitle'),
    readMinutes: Math.max(1, Math.round(wordsIn(body) / WORDS_PER_MINUTE)),
    pictureAlt: 'image' in values ? text('pictureAlt') : ANY_IMAGE.pictureAlt,
  };
}

function slugOf(heading: string): string {
  return plain(heading)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** What is read: neither the marks of lists and tables nor the addresses of links. */
function wordsIn(body: string): number {
  return plain(body)
    .split(/\s+/)
    .filter(word => /[\p{L}\p{N}]/u.test(word)).length;
}

/** Without Markdown's marks. */
function plain(text: string): string {
  return text
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*_`#|>]/g, ' ')
    .replace(/ +/g, ' ')
    .trim();
}
