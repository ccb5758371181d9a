import { brand } from '@site/kit/brand.ts';
import { ButtonLink } from '@site/kit/button.tsx';
import { NewsletterForm } from '@site/kit/newsletter-form.tsx';
import { PageHeader } from '@site/kit/page-header.tsx';
import { PageMeta } from '@site/kit/page-meta.tsx';
import { Link, useParams } from '@site/kit/router.ts';
import { Section } from '@site/kit/section.tsx';
import type { Thing } from '@site/kit/structured-data.tsx';
import { breadcrumbs, organization, StructuredData } from '@site/kit/structured-data.tsx';
import { WithFooter } from '@site/kit/with-footer.tsx';
import { use } from 'react';
import type { PostSummary, PostText } from './post.ts';
import { dateOf } from './post.ts';
import { posts, textOf } from './posts.ts';
import './styles.css';

/** Which build this is. */
export const version = REMOTE_VERSION;

/** `/blog/{postId}` */
export default function BlogPost() {
  const { '*': id = '' } = useParams();
  const post = posts.find(candidate => candidate.id === id);
  const text = textOf(id);
  return post && text ? <Article key={id} post={post} text={text} /> : <NotFound />;
}

function Article({ post, text }: { post: PostSummary; text: Promise<PostText> }) {
  const { html } = use(text);
  return (
    <article>
      <PageMeta
        title={post.title}
        description={post.excerpt}
        path={`/blog/${post.id}`}
        kind="article"
      />
      <StructuredData data={articleOf(post)} />
      <StructuredData
        data={breadcrumbs(
          { title: 'Blog', path: '/blog' },
          { title: post.title, path: `/blog/${post.id}` },
        )}
      />
      <header className="mx-auto max-w-page px-5 pt-12 pb-10 md:px-8">
        <Link to="/blog" className="inline-flex min-h-11 items-center underline">
          Back to Blog
        </Link>
        <p className="mt-6 font-mono text-seen-ink text-small">{post.category}</p>
        <h1 className="mt-3 max-w-[22ch] text-title">{post.title}</h1>
        <p className="mt-6 flex flex-wrap gap-x-6 text-ink-2">
          <time dateTime={post.published}>{dateOf(post)}</time>
          <span>{post.readMinutes} min read</span>
          <span>By {post.author}</span>
        </p>
      </header>
      <div
        className="article mx-auto max-w-page px-5 pb-16 md:px-8"
        // biome-ignore lint/security/noDangerouslySetInnerHtml: our own articles, made at build time
        dangerouslySetInnerHTML={{ __html: html }}
      />
      <Section title="Stay in the Loop">
        <NewsletterForm />
      </Section>
    </article>
  );
}

function articleOf(post: PostSummary): Thing {
  return {
    '@type': 'Article',
    headline: post.title,
    description: post.excerpt,
    datePublished: post.published,
    author: { '@type': 'Organization', name: `${post.author}, ${brand.name}`, url: brand.siteUrl },
    publisher: organization,
    mainEntityOfPage: `${brand.siteUrl}/blog/${post.id}`,
  };
}

function NotFound() {
  return (
    <>
      <PageMeta title="Blog Post Not Found" description="This article does not exist." />
      <PageHeader
        title="Blog Post Not Found"
        subtitle="Sorry, the blog post you're looking for doesn't exist or has been moved"
      >
        <ButtonLink to="/blog">Back to Blog</ButtonLink>
      </PageHeader>
      <WithFooter />
    </>
  );
}
