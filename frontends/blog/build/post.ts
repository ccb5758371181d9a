import { Marked } from 'marked';
import { parse } from 'yaml';
import type { Post, PostSummary } from '../src/post.ts';
import { categories } from '../src/post.ts';

/** How many words a minute has. */
const WORDS_PER_MINUTE = 200;
const FRONT_MATTER = /^---\n(.*?)\n---\n(.*)$/s;

/** Reads an article: Markdown after front matter in YAML. Says in a sentence what is wrong with it. */
export function readPost(file: string, source: string): Post {
  const [, head, body] = FRONT_MATTER.exec(source) ?? [];
  if (head === undefined || body === undefined) {
    throw new Error(`${file} does not begin with front matter between two lines of ---`);
  }
  const headings: Post['headings'] = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const id = slugOf(text);
        headings.push({ id, text: plain(text) });
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      // A wide table scrolls within itself; the keyboard must reach it.
      table(token) {
        const row = (cells: typeof token.header, tag: string) =>
          `<tr>${cells.map(cell => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>`;
        const rows = token.rows.map(cells => row(cells, 'td')).join('');
        return `<div class="table" role="region" aria-label="Table" tabindex="0"><table><thead>${row(token.header, 'th')}</thead><tbody>${rows}</tbody></table></div>\n`;
      },
    },
  });
  const html = marked.parse(body, { async: false });
  return { summary: summaryOf(file, parse(head), body), html, headings };
}

function summaryOf(file: string, head: unknown, body: string): PostSummary {
  const values: Record<string, unknown> = Object(head);
  const text = (name: string) => {
    const value = values[name];
    if (typeof value !== 'string' || value.trim() === '') {
      throw new Error(`${file} has no ${name} in its front matter, or it is no text`);
    }
    return value.trim();
  };
  const category = categories.find(known => known === text('category'));
  if (!category) {
    throw new Error(
      `${file} has the category "${text('category')}"; known are ${categories.join(', ')}`,
    );
  }
  const published = text('published');
  if (Number.isNaN(Date.parse(published))) {
    throw new Error(`${file} has the date "${published}"; write it as 2025-04-15`);
  }
  const id = text('id');
  if (`${id}.md` !== file) {
    throw new Error(`${file} has the id "${id}"; both are its address and must be the same`);
  }
  return {
    id,
    title: text('title'),
    excerpt: text('excerpt'),
    published,
    category,
    author: text('author'),
    readMinutes: Math.max(1, Math.round(plain(body).split(/\s+/).length / WORDS_PER_MINUTE)),
  };
}

function slugOf(heading: string): string {
  return plain(heading)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** Without Markdown's marks. */
function plain(text: string): string {
  return text
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*_`#|>]/g, ' ')
    .replace(/ +/g, ' ')
    .trim();
}
