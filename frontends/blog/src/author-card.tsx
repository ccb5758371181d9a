import { useReveal } from '@site/kit/reveal.tsx';
import type { Author } from './author.ts';

/** Who wrote an article. */
export function AuthorCard({ author }: { author: Author }) {
  return (
    <aside
      {...useReveal<HTMLElement>()}
      aria-label="About the author"
      className="mt-8 flex items-center gap-6 border border-line bg-raised p-6"
    >
      <Monogram text={author.monogram} />
      <div>
        <p className="font-semibold text-subheading">{author.name}</p>
        <p className="text-ink-2">{author.title}</p>
        {author.profileUrl ? (
          <a
            href={author.profileUrl}
            target="_blank"
            rel="noopener"
            className="inline-flex min-h-11 items-center text-small underline"
          >
            Profile<span className="sr-only"> of the author (opens a new window)</span>
          </a>
        ) : null}
      </div>
    </aside>
  );
}

/** A portrait as the machine would frame it, of someone it does not name. */
function Monogram({ text }: { text: string }) {
  return (
    <svg viewBox="0 0 80 80" aria-hidden="true" fill="none" className="size-20 shrink-0">
      <path
        d="M3 17V3h14M63 3h14v14M77 63v14H63M17 77H3V63"
        stroke="var(--seen)"
        strokeWidth="2.5"
      />
      <text
        x="40"
        y="46"
        textAnchor="middle"
        fill="currentColor"
        className="font-semibold text-subheading"
      >
        {text}
      </text>
    </svg>
  );
}
