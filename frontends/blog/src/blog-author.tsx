import { brand } from '@site/kit/brand.ts';
import { InitialsAvatar } from '@site/kit/initials-avatar.tsx';
import { PageHeader } from '@site/kit/page-header.tsx';
import { PageMeta } from '@site/kit/page-meta.tsx';
import * as paths from '@site/kit/paths.ts';
import { useParams } from '@site/kit/router.ts';
import { Section } from '@site/kit/section.tsx';
import { breadcrumbs, StructuredData } from '@site/kit/structured-data.tsx';
import { authorOf, authorThing } from './author.ts';
import { previewOf } from './author-previews.ts';
import { AuthorProfileLink } from './author-profile-link.tsx';
import { PostNotFound } from './not-found.tsx';
import type { PostSummary } from './post.ts';
import { PostGrid } from './post-grid.tsx';
import { posts } from './posts.ts';
import './styles.css';

export const version = REMOTE_VERSION;

const BLOG = { title: 'Blog', path: paths.blog };

/** `/blog/author/{author}` */
export default function BlogAuthor() {
  const { author: slug = '' } = useParams();
  const [newest, ...others] = posts.filter(post => authorOf(post).slug === slug);
  return newest ? <AuthorPage newest={newest} others={others} /> : <PostNotFound />;
}

interface AuthorPageProps {
  newest: PostSummary;
  others: readonly PostSummary[];
}

function AuthorPage({ newest, others }: AuthorPageProps) {
  const author = authorOf(newest);
  const title = `Articles by ${author.byline}`;
  const path = paths.author(author.slug);
  return (
    <>
      <PageMeta
        title={title}
        description={`What the ${author.title} writes about teaching cameras to pay attention.`}
        path={path}
        picture={previewOf(author.slug)}
      />
      <StructuredData
        data={{
          '@type': 'ProfilePage',
          mainEntity: { ...authorThing(newest), '@id': `${brand.siteUrl}${path}#author` },
        }}
      />
      <StructuredData data={breadcrumbs(BLOG, { title, path })} />
      <PageHeader
        title={title}
        subtitle={author.title}
        breadcrumb={[BLOG]}
        icon={<InitialsAvatar of={author.monogram} className="mb-6 size-24" />}
      >
        <AuthorProfileLink author={author} />
      </PageHeader>
      <Section title="All Articles">
        <PostGrid posts={[newest, ...others]} first="high" />
      </Section>
    </>
  );
}
