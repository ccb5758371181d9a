import type { RendererObject, Tokens } from 'marked';
import { Marked } from 'marked';
import markedFootnote from 'marked-footnote';
import type { Heading, PostText } from '../src/post.ts';
import { PICTURE_SIZE } from '../src/post.ts';

/** Heading level that the table of contents lists. */
const SECTION = 2;
/** Heading of the footnotes. Its id replaces marked-footnote's id, `FOOTNOTES_LABEL`. */
const FOOTNOTES: Heading = { id: 'references', text: 'References' };
const FOOTNOTES_LABEL = 'footnote-label';
/** Placeholder for a picture's URL, which only the bundler knows. */
const PICTURE = /\{\{picture ([\w.-]+)\}\}/;

export function articleTextOf(file: string, body: string): PostText {
  const headings: Heading[] = [];
  const marked = new Marked({ renderer: { ...boxes, heading: headingRenderer(file, headings) } });
  marked.use(markedFootnote({ description: FOOTNOTES.text, refMarkers: true }));
  const html = marked
    .parse(body, { async: false })
    .replaceAll(FOOTNOTES_LABEL, FOOTNOTES.id)
    .replace(`<h2 id="${FOOTNOTES.id}" class="sr-only">`, `<h2 id="${FOOTNOTES.id}">`);
  const hasFootnotes = html.includes('data-footnotes');
  return { html, headings: hasFootnotes ? [...headings, FOOTNOTES] : headings };
}

/** Splits HTML at its pictures. Odd indexes hold the pictures' file names. */
export function splitAtPictures(html: string): string[] {
  return html.split(PICTURE);
}

/** Strips Markdown syntax. */
export function plain(text: string): string {
  return text
    .replace(/\[\^\w+\]/g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*_`#|>]/g, ' ')
    .replace(/ +/g, ' ')
    .trim();
}

/** Wide tables and code scroll in their own box. `tabindex` makes the box reachable by keyboard. */
const boxes: RendererObject = {
  paragraph({ tokens }) {
    const [first, ...others] = tokens;
    return first?.type === 'image' && others.length === 0
      ? figure(first as Tokens.Image)
      : `<p>${this.parser.parseInline(tokens)}</p>\n`;
  },
  code({ text, lang }) {
    const label = lang ? `Code: ${lang}` : 'Code';
    return `<section class="code" aria-label="${escaped(label)}" tabindex="0"><pre><code>${escaped(text)}</code></pre></section>\n`;
  },
  table({ header, rows }) {
    const label = escaped(header.map(({ text }) => plain(text)).join(', '));
    const cell = ({ tokens, header }: Tokens.TableCell) =>
      `<${header ? 'th' : 'td'}>${this.parser.parseInline(tokens)}</${header ? 'th' : 'td'}>`;
    const row = (cells: readonly Tokens.TableCell[]) => `<tr>${cells.map(cell).join('')}</tr>`;
    return (
      `<section class="table" aria-label="Table: ${label}" tabindex="0"><table>` +
      `<thead>${row(header)}</thead><tbody>${rows.map(row).join('')}</tbody></table></section>\n`
    );
  },
};

function figure({ href, text, title }: Tokens.Image): string {
  const { width, height } = PICTURE_SIZE;
  const caption = title ? `<figcaption>${escaped(title)}</figcaption>` : '';
  return `<figure><img src="{{picture ${href}}}" alt="${escaped(text)}" width="${width}" height="${height}" loading="lazy">${caption}</figure>\n`;
}

/** Renders headings, and collects those for the table of contents. */
function headingRenderer(
  file: string,
  headings: Heading[],
): NonNullable<RendererObject['heading']> {
  const taken = new Set<string>();
  return function heading({ tokens, depth, text }) {
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
  };
}

function slugOf(heading: string): string {
  return plain(heading)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
