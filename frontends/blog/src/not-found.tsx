import { ButtonLink } from '@site/kit/button.tsx';
import { FooterMarker } from '@site/kit/footer-marker.tsx';
import { PageHeader } from '@site/kit/page-header.tsx';
import { PageMeta } from '@site/kit/page-meta.tsx';
import * as paths from '@site/kit/paths.ts';

/** Not-found page below `/blog`. */
export function PostNotFound() {
  return (
    <>
      <PageMeta title="Blog Post Not Found" description="This article does not exist." />
      <PageHeader
        title="Blog Post Not Found"
        subtitle="Sorry, the blog post you're looking for doesn't exist or has been moved"
      >
        <ButtonLink to={paths.blog}>Back to Blog</ButtonLink>
      </PageHeader>
      <FooterMarker />
    </>
  );
}
