import { brand } from '@site/kit/brand.ts';

/** The variants of the home page. Each is prerendered. */
export const homeVariants = ['classic', 'impact'] as const;

/** The variant that the search part of an address asks for, or the brand's own. */
export function homeVariantOf(search: string): (typeof homeVariants)[number] {
  const asked = new URLSearchParams(search).get('variant');
  const ours = brand.defaultHome === 'impact' ? 'impact' : 'classic';
  return homeVariants.find(variant => variant === asked) ?? ours;
}
