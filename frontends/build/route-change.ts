import type { Page } from '@playwright/test';

/** Links of the header, with the heading of the page that each leads to. */
export const CHANGES = [
  ['About', 'Pioneering AI Security'],
  ['Solutions', 'Advanced Security Solutions'],
  ['Services', 'Tailored Security Services'],
  ['Contact', "Let's Connect"],
  ['About', 'Pioneering AI Security'],
] as const;

/** Milliseconds from the click on a link of the header to the heading of its page, on the page's own clock. */
export function timeToPage(page: Page, link: string, heading: string): Promise<number> {
  return page.evaluate(
    ([name, words]) =>
      new Promise<number>((resolve, reject) => {
        const links = Array.from(document.querySelectorAll<HTMLElement>('header nav a'));
        const target = links.find(({ textContent }) => textContent === name);
        const from = performance.now();
        const observer = new MutationObserver(() => {
          if (document.querySelector('h1')?.textContent === words) {
            observer.disconnect();
            resolve(performance.now() - from);
          }
        });
        observer.observe(document.body, { childList: true, subtree: true, characterData: true });
        setTimeout(() => reject(new Error(`${words} does not come`)), 5000);
        target?.click();
      }),
    [link, heading] as const,
  );
}
