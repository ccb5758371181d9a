import { expect, test } from 'vitest';
import { relatedTo } from './related.ts';

const ALL = ['newest trend', 'shown data', 'newer media', 'older data', 'oldest trend'];

test('beside one stand up to three others, those of its kind first, never itself', () => {
  const [, shown = ''] = ALL;
  const kindOf = (item: string) => item.split(' ')[1] ?? '';
  expect(relatedTo(shown, ALL, kindOf)).toEqual(['older data', 'newest trend', 'newer media']);
  expect(relatedTo(shown, [shown], kindOf)).toEqual([]);
});
