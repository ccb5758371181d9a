import { useLocation } from '@site/kit/router.ts';
import { useBrowserValue } from '@site/kit/use-hydrated.ts';
import { dayAt } from './open-positions.ts';

/** With this parameter the build renders a page as of another day. */
export const DAY_PARAMETER = 'on';

/** Today. Until hydration, the day for which the page was prerendered (`data-day`). */
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
