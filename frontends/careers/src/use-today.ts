import { useLocation } from '@site/kit/router.ts';
import { useBrowserValue } from '@site/kit/use-hydrated.ts';
import { dayAt } from './open-positions.ts';

/** Parameter of an address by which the build renders a page as it will be on another day. */
export const DAY_PARAMETER = 'on';

/** Today; in the page's HTML, and until that is hydrated, the day that it was rendered for (`data-day`). */
export function useToday(): string {
  const { search } = useLocation();
  return useBrowserValue(() => dayAt(Date.now()), renderedDay(search));
}

function renderedDay(search: string): string {
  const day =
    typeof document === 'undefined'
      ? new URLSearchParams(search).get(DAY_PARAMETER)
      : document.querySelector<HTMLElement>('[data-day]')?.dataset['day'];
  return day ?? dayAt(Date.now());
}
