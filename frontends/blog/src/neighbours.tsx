import * as paths from '@site/kit/paths.ts';
import { Link } from '@site/kit/router.ts';
import type { PostSummary } from './post.ts';
import { posts } from './posts.ts';

export function Neighbours({ post }: { post: PostSummary }) {
  const at = posts.findIndex(({ id }) => id === post.id);
  return (
    <nav aria-label="Previous and next article" className="mt-8 grid gap-4 sm:grid-cols-2">
      <Neighbour title="Previous" rel="prev" post={posts[at + 1]} />
      <Neighbour title="Next" rel="next" post={posts[at - 1]} />
    </nav>
  );
}

interface NeighbourProps {
  title: string;
  rel: 'prev' | 'next';
  post: PostSummary | undefined;
}

function Neighbour({ title, rel, post }: NeighbourProps) {
  return post ? (
    <Link
      to={paths.article(post.id)}
      rel={rel}
      className="border border-line p-5 hover:border-ink data-next:sm:col-start-2 data-next:sm:text-right"
      data-next={rel === 'next' ? '' : undefined}
    >
      <span className="block text-ink-2 text-small">{title}</span>
      <span className="mt-1 block font-semibold">{post.title}</span>
    </Link>
  ) : null;
}
