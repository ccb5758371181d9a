import { expect, test } from 'vitest';
import { relatedTo } from './related.ts';

const ALL = ['newest trend', 'shown data', 'newer media', 'older data', 'oldest trend'];

test('up to three other items are related, same kind first', () => {
  const [, shown = ''] = ALL;
  const kindOf = (item: string) => item.split(' ')[1] ?? '';
  expect(relatedTo(shown, ALL, kindOf)).toEqual(['older data', 'newest trend', 'newer media']);
  expect(relatedTo(shown, [shown], kindOf)).toEqual([]);
});
