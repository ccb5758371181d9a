import * as paths from '@site/kit/paths.ts';
import { mountStandalone } from '@site/kit/standalone.tsx';
import BlogAuthor from './blog-author.tsx';
import BlogList from './blog-list.tsx';
import BlogPost from './blog-post.tsx';
import BlogTeasers from './blog-teasers.tsx';

mountStandalone({
  name: 'blog',
  pages: {
    [paths.home]: BlogTeasers,
    ...Object.fromEntries(paths.routePatterns.blogList.map(path => [path, BlogList])),
    [paths.routePatterns.author[0]]: BlogAuthor,
    [paths.routePatterns.article[0]]: BlogPost,
  },
});
