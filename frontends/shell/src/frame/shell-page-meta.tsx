import { PageMeta } from '@site/kit/page-meta.tsx';

interface ShellPageMetaProps {
  title: string;
  description: string;
  path: string;
}

/** The preview picture has the page's path. */
export function ShellPageMeta(props: ShellPageMetaProps) {
  return <PageMeta {...props} picture={`/previews${props.path}.jpg`} />;
}
