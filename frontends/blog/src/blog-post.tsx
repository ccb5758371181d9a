import { brand } from '@site/kit/brand.ts';
import { NewsletterForm } from '@site/kit/newsletter-form.tsx';
import { PageMeta } from '@site/kit/page-meta.tsx';
import * as paths from '@site/kit/paths.ts';
import { Picture } from '@site/kit/picture.tsx';
import { relatedTo } from '@site/kit/related.ts';
import { Link, useParams } from '@site/kit/router.ts';
import { Section } from '@site/kit/section.tsx';
import type { Thing } from '@site/kit/structured-data.tsx';
import { breadcrumbs, organization, StructuredData } from '@site/kit/structured-data.tsx';
import { ArticleText } from './article-text.tsx';
import { authorOf, authorThing } from './author.ts';
import { AuthorCard } from './author-card.tsx';
import { Neighbours } from './neighbours.tsx';
import { PostNotFound } from './not-found.tsx';
import type { PostSummary } from './post.ts';
import { lastChangeOf, PICTURE_SIZE } from './post.ts';
import { PostCard } from './post-card.tsx';
import { posts } from './posts.ts';
import { ShareLinks } from './share-links.tsx';
import './styles.css';

export const version = REMOTE_VERSION;

/** `/blog/{postId}` */
export default function BlogPost() {
  const { '*': id = '' } = useParams();
  const post = posts.find(candidate => candidate.id === id);
  return post ? <Article key={id} post={post} /> : <PostNotFound />;
}

function Article({ post }: { post: PostSummary }) {
  return (
    <>
      <article>
        <ArticleMeta post={post} />
        <Top post={post} />
        <ArticleText id={post.id}>
          <ShareLinks address={addressOf(post)} title={post.title} />
          <AuthorCard author={authorOf(post)} />
          <Neighbours post={post} />
        </ArticleText>
      </article>
      <Section
        title={`${brand.name} Insights Newsletter`}
        lead="One mail per article. If it was dull, one click ends it."
      >
        <NewsletterForm />
      </Section>
      <Section title="Related Posts">
        <ul className="grid gap-5 md:grid-cols-3">
          {relatedTo(post, posts, ({ category }) => category).map(related => (
            <li key={related.id}>
              <PostCard post={related} />
            </li>
          ))}
        </ul>
      </Section>
      <Section
        title="Stay in the Loop"
        lead="Read this far? The next one can come to you."
        className="bg-sunk"
      >
        <NewsletterForm />
      </Section>
    </>
  );
}

function ArticleMeta({ post }: { post: PostSummary }) {
  const path = paths.article(post.id);
  return (
    <>
      <PageMeta
        title={post.title}
        description={post.excerpt}
        path={path}
        kind="article"
        picture={post.preview}
      />
      <StructuredData data={articleOf(post)} />
      <StructuredData
        data={breadcrumbs({ title: 'Blog', path: paths.blog }, { title: post.title, path })}
      />
    </>
  );
}

function Top({ post }: { post: PostSummary }) {
  const author = authorOf(post);
  return (
    <header className="mx-auto grid max-w-page items-center gap-x-14 gap-y-10 px-5 pt-8 pb-14 md:px-8 lg:grid-cols-2 lg:pt-12">
      <div className="fade-up">
        <Link to={paths.blog} className="inline-flex min-h-11 items-center gap-2 underline">
          <span aria-hidden="true">←</span>Back to Blog
        </Link>
        <p className="mt-6 font-semibold text-seen-ink text-small">{post.category}</p>
        <h1 className="mt-3 text-balance text-heading">{post.title}</h1>
        <p className="mt-5 text-ink-2 text-lead">{post.excerpt}</p>
        <p className="mt-6 flex flex-wrap items-center gap-x-6 gap-y-1 text-ink-2 text-small">
          <time dateTime={post.date}>{post.dateText}</time>
          {post.modified ? (
            <span>
              Updated <time dateTime={post.modified}>{post.modifiedText}</time>
            </span>
          ) : null}
          <span>{post.readMinutes} min read</span>
          <Link to={paths.author(author.slug)} className="flex min-h-11 items-center underline">
            By {author.byline}
          </Link>
        </p>
      </div>
      <Picture src={post.picture} alt={post.pictureAlt} {...PICTURE_SIZE} priority="high" />
    </header>
  );
}

function articleOf(post: PostSummary): Thing {
  return {
    '@type': 'Article',
    headline: post.title,
    description: post.excerpt,
    image: brand.siteUrl + (post.preview ?? post.picture),
    articleSection: post.category,
    datePublished: timeOf(post.date),
    dateModified: timeOf(lastChangeOf(post)),
    author: authorThing(post),
    publisher: organization(),
    mainEntityOfPage: addressOf(post),
  };
}

/** Start of a day in UTC (ISO 8601). */
function timeOf(day: string): string {
  return `${day}T00:00:00Z`;
}

function addressOf({ id }: PostSummary): string {
  return brand.siteUrl + paths.article(id);
}
