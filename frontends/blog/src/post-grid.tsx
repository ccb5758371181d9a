import type { PostSummary } from './post.ts';
import { PostCard } from './post-card.tsx';

interface PostGridProps {
  posts: readonly PostSummary[];
  /** Loading priority of the first picture. */
  first?: 'high' | 'low';
}

export function PostGrid({ posts, first = 'low' }: PostGridProps) {
  return (
    <ul className="grid gap-5 md:grid-cols-2 lg:grid-cols-3">
      {posts.map((post, at) => (
        <li key={post.id}>
          <PostCard post={post} priority={at === 0 ? first : 'low'} />
        </li>
      ))}
    </ul>
  );
}
