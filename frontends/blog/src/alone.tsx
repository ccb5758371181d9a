import { showAlone } from '@site/kit/alone.tsx';
import * as paths from '@site/kit/paths.ts';
import BlogList from './blog-list.tsx';
import BlogPost from './blog-post.tsx';
import BlogTeasers from './blog-teasers.tsx';

showAlone({
  name: 'blog',
  pages: {
    [paths.home]: BlogTeasers,
    ...Object.fromEntries(paths.kinds.blogList.map(path => [path, BlogList])),
    [paths.kinds.article[0]]: BlogPost,
  },
});
