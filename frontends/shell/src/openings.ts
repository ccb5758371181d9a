import { brand } from '@site/kit/brand.ts';

/** The openings that the home page can have. Each is rendered ahead of time. */
export const openings = ['classic', 'impact'] as const;

/** The opening that the search part of an address asks for, or the brand's own. */
export function openingOf(search: string): (typeof openings)[number] {
  const asked = new URLSearchParams(search).get('variant');
  const ours = brand.defaultHome === 'impact' ? 'impact' : 'classic';
  return openings.find(opening => opening === asked) ?? ours;
}
