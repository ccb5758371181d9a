import { expect, test } from 'vitest';
import { splitAtPictures } from './article-html.ts';
import { readPost } from './post.ts';

const HEAD = {
  id: 'a-post',
  title: 'A post',
  excerpt: 'What it is about.',
  date: '"2025-04-15"',
  category: 'Privacy',
  author: 'CTO',
  authorTitle: 'Chief Technology Officer',
  image: 'a-post.svg',
  pictureAlt: 'A drawing.',
};

function file(head: Partial<typeof HEAD & { modified: string }>, body = 'Words.') {
  const lines = Object.entries({ ...HEAD, ...head }).map(([name, value]) => `${name}: ${value}`);
  return `---\n${lines.join('\n')}\n---\n${body}`;
}

test('an article has a summary, a text and headings', () => {
  const { summary, html, headings } = readPost(
    'a-post.md',
    file({}, '## What *is* it?\n\nThis.\n'),
  );
  expect(summary).toMatchObject({
    id: 'a-post',
    dateText: 'April 15, 2025',
    category: 'Privacy',
    readMinutes: 1,
  });
  expect(html).toBe(
    '<h2 id="what-is-it"><a class="anchor" href="#what-is-it">What <em>is</em> it?</a></h2>\n<p>This.</p>\n',
  );
  expect(headings).toEqual([{ id: 'what-is-it', text: 'What is it?' }]);
});

test('two hundred words take a minute to read', () => {
  const body = Array.from({ length: 1400 }, () => 'word').join(' ');
  expect(readPost('a-post.md', file({}, body)).summary.readMinutes).toBe(7);
});

test('Markdown syntax does not count as words', () => {
  const table = '| A | B |\n| --- | --- |\n| one | two |\n\n- three\n';
  const body = `${table.repeat(50)}[four](https://example.com/a-long-address)`;
  expect(readPost('a-post.md', file({}, body)).summary.readMinutes).toBe(1);
});

test('the table of contents lists sections, not subsections', () => {
  expect(readPost('a-post.md', file({}, '## One\n\n### Two\n')).headings).toEqual([
    { id: 'one', text: 'One' },
  ]);
});

test('a table has a label and scrolls by keyboard', () => {
  const { html } = readPost(
    'a-post.md',
    file({}, '| Place | *Days* |\n| --- | --- |\n| Yard | 7 |\n'),
  );
  expect(html).toContain('<section class="table" aria-label="Table: Place, Days" tabindex="0">');
  expect(html).toContain('<th>Place</th>');
  expect(html).toContain('<td>Yard</td>');
});

test('a footnote links to the references and back', () => {
  const { html, headings, summary } = readPost(
    'a-post.md',
    file({}, '## One\n\nIt is so[^1].\n\n[^1]: A book.\n'),
  );
  expect(html).toMatch(/<sup><a id="footnote-ref-1" href="#footnote-1"[^>]*>\[1\]<\/a><\/sup>/);
  expect(html).toContain('<h2 id="references">References</h2>');
  expect(html).toMatch(/<li id="footnote-1">\s*<p>A book\. <a href="#footnote-ref-1"/);
  expect(headings.at(-1)).toEqual({ id: 'references', text: 'References' });
  expect(summary.readMinutes).toBe(1);
});

test('a picture in its own paragraph becomes a captioned figure', () => {
  const body = '![A "square".](square.svg "Four sides & no more")\n\nIn a line: `a < b`.';
  const { html } = readPost('a-post.md', file({}, body));
  expect(splitAtPictures(html)).toEqual([
    '<figure><img src="',
    'square.svg',
    expect.stringMatching(
      /^" alt="A &quot;square&quot;\." width="800" height="450" loading="lazy">/,
    ),
  ]);
  expect(html).toContain('<figcaption>Four sides &amp; no more</figcaption></figure>');
  expect(html).toContain('<p>In a line: <code>a &lt; b</code>.</p>');
});

test('code is escaped, has a label and scrolls by keyboard', () => {
  const { html } = readPost('a-post.md', file({}, '```yaml\nkeep: <3 days>\n```\n'));
  expect(html).toBe(
    '<section class="code" aria-label="Code: yaml" tabindex="0"><pre><code>keep: &lt;3 days></code></pre></section>\n',
  );
});

test('a changed article has its day of change', () => {
  const { summary } = readPost('a-post.md', file({ modified: '"2025-05-02"' }));
  expect(summary).toMatchObject({ modified: '2025-05-02', modifiedText: 'May 2, 2025' });
  expect(readPost('a-post.md', file({})).summary).not.toHaveProperty('modified');
});

test.each([
  ['no front matter', 'Just words.', 'does not begin with front matter'],
  ['a missing title', file({ title: '' }), 'has no title'],
  ['an unknown category', file({ category: 'Gossip' }), 'known are Technology, Privacy'],
  ['an invalid date', file({ date: 'soon' }), 'write it as "2025-04-15"'],
  ['a picture without alternative text', file({ pictureAlt: '' }), 'has no pictureAlt'],
  ['invalid YAML', file({ title: '"open' }), 'is no YAML'],
  ['a duplicate field', file({ title: 'A\ntitle: B' }), 'is no YAML'],
  ['a duplicate heading', file({}, '## Why\n\n## Why?\n'), 'two headings'],
  ['a change before publication', file({ modified: '"2025-04-14"' }), 'before its date'],
  ['an invalid day of change', file({ modified: 'lately' }), 'write it as "2025-04-15"'],
  ['a date in another format', file({ date: '"April 15, 2025"' }), 'write it as "2025-04-15"'],
  ['an id that differs from the file name', file({ id: 'other' }), 'must be the same'],
])('%s throws a clear error', (_, source, sentence) => {
  expect(() => readPost('a-post.md', source)).toThrow(sentence);
});
