import { showAlone } from '@site/kit/alone.tsx';
import BlogList from './blog-list.tsx';
import BlogPost from './blog-post.tsx';
import BlogTeasers from './blog-teasers.tsx';
import { PATTERNS } from './listing.ts';

showAlone({
  name: 'blog',
  pages: {
    '/': BlogTeasers,
    ...Object.fromEntries(PATTERNS.map(path => [path, BlogList])),
    '/blog/*': BlogPost,
  },
});
