import { NewsletterForm } from '@site/kit/newsletter-form.tsx';
import { PageHeader } from '@site/kit/page-header.tsx';
import { PageMeta } from '@site/kit/page-meta.tsx';
import { Section } from '@site/kit/section.tsx';
import { PostCard } from './post-card.tsx';
import { posts } from './posts.ts';
import './styles.css';

/** Which build this is. */
export const version = REMOTE_VERSION;

/** `/blog` */
export default function BlogList() {
  return (
    <>
      <PageMeta
        title="Blog"
        description="What we learn from watching over thousands of places."
        path="/blog"
      />
      <PageHeader title="Blog" subtitle="What we learn from watching over thousands of places." />
      <Section title="Latest Articles">
        <ul className="grid gap-5 md:grid-cols-3">
          {posts.map(post => (
            <li key={post.id}>
              <PostCard post={post} />
            </li>
          ))}
        </ul>
      </Section>
      <Section title="Stay in the Loop">
        <NewsletterForm />
      </Section>
    </>
  );
}
