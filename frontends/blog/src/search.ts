import MiniSearch from 'minisearch';
import { index, leftOut } from './search-index.yaml';
import { searchOptions } from './search-options.ts';

const miniSearch = MiniSearch.loadJSON(index, searchOptions(leftOut));

/** Ids of the articles that hold all of these words, or what begins with them, the best first; small slips are forgiven. */
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
