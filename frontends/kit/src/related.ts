const SHOWN = 3;

/** What is shown beside one of several: up to three others, in their order, but those of its kind first. */
export function relatedTo<Item>(
  one: Item,
  all: readonly Item[],
  kindOf: (item: Item) => string,
): readonly Item[] {
  const others = all.filter(item => item !== one);
  const isOfKind = (item: Item) => kindOf(item) === kindOf(one);
  return [...others.filter(isOfKind), ...others.filter(item => !isOfKind(item))].slice(0, SHOWN);
}
