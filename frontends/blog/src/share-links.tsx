import { useBrowserValue } from '@site/kit/use-hydrated.ts';
import { sharesOf } from './share.ts';

/**
 * Shares the URL that the reader sees; the prerendered HTML has the canonical URL. Social networks get no
 * request before a click.
 */
export function ShareLinks({ address, title }: { address: string; title: string }) {
  const shown = useBrowserValue(
    () => location.origin + location.pathname + location.search,
    address,
  );
  return (
    <div
      data-share=""
      className="mt-12 flex flex-wrap items-center gap-2 border-line border-t pt-6"
    >
      <h2 className="mr-3 w-full font-semibold sm:w-auto">Share this article</h2>
      {sharesOf(shown, title).map(({ name, url }) => (
        <a
          key={name}
          href={url}
          target="_blank"
          rel="noopener"
          className="inline-flex min-h-11 items-center rounded-control border border-field-line px-4 font-semibold text-small hover:border-ink"
        >
          {name}
          <span className="sr-only"> (opens a new window)</span>
        </a>
      ))}
    </div>
  );
}
