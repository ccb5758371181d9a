import * as paths from '@site/kit/paths.ts';
import { Link } from '@site/kit/router.ts';
import { Section } from '@site/kit/section.tsx';
import { PostCard } from './post-card.tsx';
import { posts } from './posts.ts';
import './styles.css';

const SHOWN = 3;
const STAGGER_MS = 100;

export const version = REMOTE_VERSION;

export default function BlogTeasers() {
  return (
    <Section title="Latest Insights">
      <ul className="grid gap-5 md:grid-cols-3">
        {posts.slice(0, SHOWN).map((post, at) => (
          <li key={post.id}>
            <PostCard post={post} delayMs={at * STAGGER_MS} />
          </li>
        ))}
      </ul>
      <p className="mt-8">
        <Link to={paths.blog} className="inline-flex min-h-11 items-center underline">
          View all blog posts
        </Link>
      </p>
    </Section>
  );
}
