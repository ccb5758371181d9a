import { InitialsAvatar } from '@site/kit/initials-avatar.tsx';
import * as paths from '@site/kit/paths.ts';
import { useReveal } from '@site/kit/reveal.tsx';
import { Link } from '@site/kit/router.ts';
import type { Author } from './author.ts';
import { AuthorProfileLink } from './author-profile-link.tsx';

export function AuthorCard({ author }: { author: Author }) {
  return (
    <aside
      {...useReveal<HTMLElement>()}
      aria-label="About the author"
      className="mt-8 flex items-center gap-6 border border-line bg-raised p-6"
    >
      <InitialsAvatar of={author.monogram} className="size-24 shrink-0" />
      <div>
        <p className="font-semibold text-subheading">{author.name}</p>
        <p className="text-ink-2">{author.title}</p>
        <Link
          to={paths.author(author.slug)}
          className="mr-6 inline-flex min-h-11 items-center text-small underline"
        >
          All articles by {author.byline}
        </Link>
        <AuthorProfileLink author={author} className="text-small" />
      </div>
    </aside>
  );
}
