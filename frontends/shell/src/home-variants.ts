import { brand } from '@site/kit/brand.ts';

export const homeVariants = ['classic', 'impact'] as const;

/** `search` is a query string. */
export function homeVariantOf(search: string): (typeof homeVariants)[number] {
  const asked = new URLSearchParams(search).get('variant');
  const ours = brand.defaultHome === 'impact' ? 'impact' : 'classic';
  return homeVariants.find(variant => variant === asked) ?? ours;
}
