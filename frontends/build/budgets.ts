const KILOBYTE = 1000;
/** Kilobytes for the first view. A remote's page has the federation's runtime, its entry and its own copies of the kit besides. */
const FIRST_VIEW: FirstView = { scriptKb: 100, totalKb: 250 };
const FIRST_VIEW_OF_REMOTE: FirstView = { scriptKb: 126, totalKb: 250 };
/**
 * Bytes of a page's HTML with its headers: TCP's initial congestion window, which a server sends before it waits for
 * the first acknowledgement (ten segments of 1,460 bytes, RFC 6928), less a little, because headers differ with the hosting. A byte more costs another round trip.
 */
export const FIRST_FLIGHT_BYTES = 14_500;
const OF_REMOTES = /^\/(blog|careers)\b/;

/** Transfer size of the first view of a page, in kilobytes. */
export interface FirstView {
  scriptKb: number;
  totalKb: number;
}

/** Whole kilobytes, as budgets and tables state them; a part of one counts as one, so that no budget is exceeded unseen. */
export function kilobytes(bytes: number): number {
  return Math.ceil(bytes / KILOBYTE);
}

/** Byte budgets that the first view of a route exceeds. */
export function excessOf(route: string, { scriptKb, totalKb }: FirstView): string[] {
  const allowed = OF_REMOTES.test(route) ? FIRST_VIEW_OF_REMOTE : FIRST_VIEW;
  const faults: string[] = [];
  if (scriptKb > allowed.scriptKb) {
    faults.push(`${route}: ${scriptKb} kB of JavaScript, allowed are ${allowed.scriptKb}`);
  }
  if (totalKb > allowed.totalKb) {
    faults.push(`${route}: ${totalKb} kB in all, allowed are ${allowed.totalKb}`);
  }
  return faults;
}
