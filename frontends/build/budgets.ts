const KILOBYTE = 1000;
/** Kilobytes for the first view. A remote's page has its entry and its own copies of the kit besides. */
const FIRST_VIEW = { script: 120, all: 250 };
const FIRST_VIEW_OF_REMOTE = { script: 127, all: 250 };
/**
 * Bytes of a page's HTML with its headers: what a server sends before it waits for the browser's word (ten segments of
 * 1,460 bytes, RFC 6928), less a little, because headers differ with the hosting. A byte more costs another round trip.
 */
export const FIRST_FLIGHT = 14_500;
const OF_REMOTES = /^\/(blog|careers)\b/;

/** Kilobytes that the first view of a page takes over the network. */
export interface FirstView {
  script: number;
  all: number;
}

/** Whole kilobytes, as budgets and tables state them; a part of one counts as one, so that no budget is exceeded unseen. */
export function kilobytes(bytes: number): number {
  return Math.ceil(bytes / KILOBYTE);
}

/** Which budgets of bytes the first view of a route exceeds. */
export function excessOf(route: string, { script, all }: FirstView): string[] {
  const allowed = OF_REMOTES.test(route) ? FIRST_VIEW_OF_REMOTE : FIRST_VIEW;
  const faults: string[] = [];
  if (script > allowed.script) {
    faults.push(`${route}: ${script} kB of JavaScript, allowed are ${allowed.script}`);
  }
  if (all > allowed.all) {
    faults.push(`${route}: ${all} kB in all, allowed are ${allowed.all}`);
  }
  return faults;
}
