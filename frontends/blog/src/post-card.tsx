import { Card } from '@site/kit/card.tsx';
import * as paths from '@site/kit/paths.ts';
import { Picture } from '@site/kit/picture.tsx';
import { Link } from '@site/kit/router.ts';
import type { PostSummary } from './post.ts';
import { PICTURE_SIZE } from './post.ts';

interface PostCardProps {
  post: PostSummary;
  delayMs?: number;
  /** Loading priority of the picture: `high` if it is in the first view. */
  priority?: 'high' | 'low';
}

/** The whole card is a link. It appears `delayMs` after it enters the viewport. */
export function PostCard({ post, delayMs, priority = 'low' }: PostCardProps) {
  return (
    <Card delayMs={delayMs} className="relative flex h-full flex-col">
      <Picture src={post.picture} alt={post.pictureAlt} {...PICTURE_SIZE} priority={priority} />
      <div className="flex grow flex-col p-5 lg:p-6">
        <p className="flex flex-wrap justify-between gap-x-4 text-small">
          <span className="font-semibold text-seen-ink">{post.category}</span>
          <span className="text-ink-2">{post.readMinutes} min read</span>
        </p>
        <h3 className="mt-3 text-balance text-subheading">
          <Link
            to={paths.article(post.id)}
            className="after:absolute after:inset-0 after:content-[''] hover:underline"
          >
            {post.title}
          </Link>
        </h3>
        <p className="mt-2 grow text-ink-2">{post.excerpt}</p>
        <p className="mt-4 text-ink-2 text-small">
          <time dateTime={post.date}>{post.dateText}</time>
        </p>
      </div>
    </Card>
  );
}
