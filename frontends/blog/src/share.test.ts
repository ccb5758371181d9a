import { expect, test } from 'vitest';
import { sharesOf } from './share.ts';

test('an article is shared with its address and, where the place takes it, its title', () => {
  const shares = sharesOf('https://oculant.example/blog/a-post', 'Seen & noticed: 40% less');
  const address = 'https%3A%2F%2Foculant.example%2Fblog%2Fa-post';
  const title = 'Seen%20%26%20noticed%3A%2040%25%20less';
  expect(shares).toEqual([
    { name: 'Facebook', url: `https://www.facebook.com/sharer/sharer.php?u=${address}` },
    { name: 'Twitter', url: `https://twitter.com/intent/tweet?url=${address}&text=${title}` },
    {
      name: 'LinkedIn',
      url: `https://www.linkedin.com/sharing/share-offsite/?url=${address}&title=${title}`,
    },
  ]);
});
