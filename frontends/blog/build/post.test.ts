import { expect, test } from 'vitest';
import { readPost } from './post.ts';

const HEAD = {
  id: 'a-post',
  title: 'A post',
  excerpt: 'What it is about.',
  published: '"2025-04-15"',
  category: 'Privacy',
  author: 'the CTO',
};

function file(head: Partial<typeof HEAD>, body = 'Words.') {
  const lines = Object.entries({ ...HEAD, ...head }).map(([name, value]) => `${name}: ${value}`);
  return `---\n${lines.join('\n')}\n---\n${body}`;
}

test('an article has its summary, its text and its headings', () => {
  const { summary, html, headings } = readPost(
    'a-post.md',
    file({}, '## What *is* it?\n\nThis.\n'),
  );
  expect(summary).toMatchObject({ id: 'a-post', category: 'Privacy', readMinutes: 1 });
  expect(html).toBe('<h2 id="what-is-it">What <em>is</em> it?</h2>\n<p>This.</p>\n');
  expect(headings).toEqual([{ id: 'what-is-it', text: 'What is it?' }]);
});

test('two hundred words are a minute', () => {
  const body = Array.from({ length: 1400 }, () => 'word').join(' ');
  expect(readPost('a-post.md', file({}, body)).summary.readMinutes).toBe(7);
});

test.each([
  ['no front matter', 'Just words.', 'does not begin with front matter'],
  ['a title that is missing', file({ title: '' }), 'has no title'],
  ['an unknown category', file({ category: 'Gossip' }), 'known are Technology, Privacy'],
  ['a date that is none', file({ published: 'soon' }), 'write it as 2025-04-15'],
  ['the id of another file', file({ id: 'other' }), 'must be the same'],
])('%s is said in a sentence', (_, source, sentence) => {
  expect(() => readPost('a-post.md', source)).toThrow(sentence);
});
