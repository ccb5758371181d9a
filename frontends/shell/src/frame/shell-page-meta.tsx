import { PageMeta } from '@site/kit/page-meta.tsx';

interface ShellPageMetaProps {
  title: string;
  description: string;
  path: string;
}

/** Metadata of one of the shell's pages, whose preview is named like its path. */
export function ShellPageMeta(props: ShellPageMetaProps) {
  return <PageMeta {...props} picture={`/previews${props.path}.jpg`} />;
}
