import { useSearchParams } from '@site/kit/router.ts';
import { PostGrid } from './post-grid.tsx';
import { posts } from './posts.ts';
import { search } from './search.ts';
import { QUERY } from './search-query.ts';

/** A chunk of its own, because it contains the search index. */
export default function SearchResults() {
  const [parameters] = useSearchParams();
  const words = parameters.get(QUERY)?.trim() ?? '';
  const found = search(words).flatMap(id => posts.filter(post => post.id === id));
  return (
    <>
      <p role="status" className="mb-8 text-ink-2 text-small">
        {`${summary(found.length)} “${words}”`}
      </p>
      <PostGrid posts={found} />
    </>
  );
}

function summary(count: number): string {
  if (count === 0) {
    return 'No article has anything on';
  }
  return count === 1 ? '1 article on' : `${count} articles on`;
}
