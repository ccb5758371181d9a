/** How articles are indexed by the build, and searched by readers; `leftOut` are words that tell no article from another. */
export function searchOptions(leftOut: readonly string[]) {
  const ignored = new Set(leftOut);
  return {
    fields: ['title', 'about', 'text'],
    /** The word as it is indexed and asked for: in small letters, without what stands for a possessive or a plural. */
    processTerm(term: string): string | null {
      const word = term.toLowerCase().replace(/[’']s?$/, '');
      return word && !ignored.has(word) ? word.replace(/(?<=[^s]{3})s$/, '') : null;
    },
  };
}
