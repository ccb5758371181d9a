import { MessagePage } from '@site/kit/message-page.tsx';
import * as paths from '@site/kit/paths.ts';

export function PostNotFound() {
  return (
    <MessagePage
      title="Blog Post Not Found"
      text="Sorry, the blog post you're looking for doesn't exist or has been moved"
      next={{ title: 'Back to Blog', path: paths.blog }}
    />
  );
}
