import { Link } from '@site/kit/router.ts';
import type { PostSummary } from './post.ts';
import { dateOf } from './post.ts';

/** An article in a list. */
export function PostCard({ post }: { post: PostSummary }) {
  return (
    <article className="flex h-full flex-col border border-line bg-raised p-6">
      <p className="flex justify-between gap-4 font-mono text-small">
        <span className="text-seen-ink">{post.category}</span>
        <span className="text-ink-2">{post.readMinutes} min read</span>
      </p>
      <h3 className="mt-3 text-subheading">
        <Link to={`/blog/${post.id}`} className="hover:underline">
          {post.title}
        </Link>
      </h3>
      <p className="mt-2 grow text-ink-2">{post.excerpt}</p>
      <p className="mt-4 text-ink-2 text-small">
        <time dateTime={post.published}>{dateOf(post)}</time>
      </p>
    </article>
  );
}
