/** The build's index and the browser's search must use the same options. `leftOut` are stop words. */
export function searchOptions(leftOut: readonly string[]) {
  const ignored = new Set(leftOut);
  return {
    fields: ['title', 'about', 'text'],
    /** Returns the word in lower case without possessive or plural, or null for a stop word. */
    processTerm(term: string): string | null {
      const word = term.toLowerCase().replace(/[’']s?$/, '');
      return word && !ignored.has(word) ? word.replace(/(?<=[^s]{3})s$/, '') : null;
    },
  };
}
