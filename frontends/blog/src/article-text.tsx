import { LazyArea } from '@site/kit/lazy-area.tsx';
import type { LazyPart } from '@site/kit/lazy-part.ts';
import { lazyPart } from '@site/kit/lazy-part.ts';
import type { ReactNode } from 'react';
import type { Heading, PostText } from './post.ts';
import { loadText } from './posts.ts';
import { prerenderedText } from './prerendered-text.ts';
import { trustedArticle } from './trusted-article.ts';
import { useCurrentSection } from './use-current-section.ts';

interface ArticleTextProps {
  id: string;
  /** Shown below the text. */
  children?: ReactNode;
}

export function ArticleText({ id, children }: ArticleTextProps) {
  return (
    <div className="mx-auto max-w-page border-line border-t">
      <LazyArea part={textPart(id)} what="The text of this article">
        {children}
      </LazyArea>
    </div>
  );
}

const parts = new Map<string, LazyPart>();

/** One part per article for the whole visit. If the prerendered page holds the text, nothing is loaded. */
function textPart(id: string): LazyPart {
  const text = parts.has(id) ? undefined : prerenderedText(id);
  const part =
    parts.get(id) ??
    lazyPart({
      frontEnd: 'blog',
      load: async () => moduleOf(id, await loadText(id)),
      module: text && moduleOf(id, text),
    });
  parts.set(id, part);
  return part;
}

function moduleOf(id: string, { html, headings }: PostText) {
  const text = { html: trustedArticle(html), headings };
  return {
    default: (props: Pick<ArticleTextProps, 'children'>) => <Text {...props} id={id} text={text} />,
    version: REMOTE_VERSION,
  };
}

function Text({ id, text, children }: ArticleTextProps & { text: PostText }) {
  return (
    <div className="grid gap-16 px-5 pt-12 pb-16 md:px-8 lg:grid-cols-article">
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
  const current = useCurrentSection(headings);
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
              aria-current={id === current ? 'location' : undefined}
              className="-ml-6 flex min-h-11 items-center border-transparent border-l-2 pl-6 text-ink-2 text-small hover:text-ink hover:underline aria-[current=location]:border-seen aria-[current=location]:font-semibold aria-[current=location]:text-ink"
            >
              {text}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
