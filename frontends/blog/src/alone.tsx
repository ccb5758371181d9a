import { showAlone } from '@site/kit/alone.tsx';
import BlogList from './blog-list.tsx';
import BlogPost from './blog-post.tsx';
import BlogTeasers from './blog-teasers.tsx';

showAlone({ name: 'blog', pages: { '/': BlogTeasers, '/blog': BlogList, '/blog/*': BlogPost } });
