import type { Author } from './author.ts';

export function AuthorProfileLink({
  author,
  className = '',
}: {
  author: Author;
  className?: string;
}) {
  return author.profileUrl ? (
    <a
      href={author.profileUrl}
      target="_blank"
      rel="noopener"
      className={`inline-flex min-h-11 items-center underline ${className}`.trim()}
    >
      Profile<span className="sr-only"> of the author (opens a new window)</span>
    </a>
  ) : null;
}
