import { DidNotLoad } from '@site/kit/message.tsx';
import type { ReactNode } from 'react';
import { Suspense, use, useState } from 'react';
import type { Heading } from './post.ts';
import { forgetText, textOf } from './text.ts';

interface ArticleTextProps {
  id: string;
  /** What stands below the text. */
  children: ReactNode;
}

/** The text of an article and, where there is room for it, its contents beside it. */
export function ArticleText(props: ArticleTextProps) {
  return (
    <div className="mx-auto max-w-page border-line border-t px-5 pt-12 pb-16 md:px-8">
      <Suspense fallback={<p role="status">Loading…</p>}>
        <Text {...props} />
      </Suspense>
    </div>
  );
}

function Text({ id, children }: ArticleTextProps) {
  const [, setAttempt] = useState(0);
  const text = use(textOf(id));
  if (text === 'failed') {
    return (
      <DidNotLoad
        what="The text of this article"
        advice="Check your connection, or try again in a moment."
        onRetry={() => {
          forgetText(id);
          setAttempt(attempt => attempt + 1);
        }}
      />
    );
  }
  return (
    <div className="grid gap-16 lg:grid-cols-article">
      <div className="min-w-0">
        <div
          className="article"
          data-text={id}
          // biome-ignore lint/security/noDangerouslySetInnerHtml: our own articles, made at build time
          dangerouslySetInnerHTML={{ __html: text.html }}
        />
        {children}
      </div>
      <Contents headings={text.headings} />
    </div>
  );
}

function Contents({ headings }: { headings: readonly Heading[] }) {
  return (
    <nav
      aria-labelledby="contents"
      className="sticky top-28 hidden max-h-aside self-start overflow-y-auto border-line border-l pl-6 lg:block"
    >
      <h2 id="contents" className="font-semibold text-seen-ink text-small">
        On this page
      </h2>
      <ol className="mt-3">
        {headings.map(({ id, text }) => (
          <li key={id}>
            <a
              href={`#${id}`}
              className="flex min-h-11 items-center text-ink-2 text-small hover:text-ink hover:underline"
            >
              {text}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
