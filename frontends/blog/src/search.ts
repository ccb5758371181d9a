import MiniSearch from 'minisearch';
import { index, leftOut } from './search-index.yaml';
import { searchOptions } from './search-options.ts';

const miniSearch = MiniSearch.loadJSON(index, searchOptions(leftOut));

/** Ids of articles, best matches first. Words also match by prefix, and long words with a typo. */
export function search(words: string): readonly string[] {
  return miniSearch
    .search(words, {
      combineWith: 'AND',
      prefix: true,
      fuzzy: term => (term.length > 5 ? 1 : false),
      boost: { title: 4, about: 2 },
    })
    .map(({ id }) => id);
}
