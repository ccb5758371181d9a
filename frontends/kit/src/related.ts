const SHOWN = 3;

/** Up to three other items in their order, those of the same kind first. */
export function relatedTo<Item>(
  one: Item,
  all: readonly Item[],
  kindOf: (item: Item) => string,
): readonly Item[] {
  const others = all.filter(item => item !== one);
  const isOfKind = (item: Item) => kindOf(item) === kindOf(one);
  return [...others.filter(isOfKind), ...others.filter(item => !isOfKind(item))].slice(0, SHOWN);
}
