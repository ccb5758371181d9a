import { ButtonLink } from '@site/kit/button.tsx';
import { LazyArea } from '@site/kit/lazy-area.tsx';
import { lazyPart } from '@site/kit/lazy-part.ts';
import { NewsletterForm } from '@site/kit/newsletter-form.tsx';
import { PageHeader } from '@site/kit/page-header.tsx';
import { PageMeta } from '@site/kit/page-meta.tsx';
import { Picture } from '@site/kit/picture.tsx';
import { useParams } from '@site/kit/router.ts';
import { Section } from '@site/kit/section.tsx';
import type { Filter, Listing } from './listing.ts';
import { filters, listingOf, pathOf, resultSummary } from './listing.ts';
import { PostNotFound } from './not-found.tsx';
import { Pagination } from './pagination.tsx';
import { PostGrid } from './post-grid.tsx';
import { posts } from './posts.ts';
import { SearchField } from './search-field.tsx';
import { useSearchQuery } from './search-query.ts';
import './styles.css';
import all from './pictures/blog.jpg';
import caseStudies from './pictures/category-case-studies.jpg';
import technology from './pictures/category-technology.jpg';
import trends from './pictures/category-trends.jpg';
import kiosk from './pictures/kiosk.svg';

export const version = REMOTE_VERSION;

const TITLE = 'Insights, mostly about noticing';
const SUBTITLE =
  'What we learn from teaching cameras to pay attention, written for the people who buy, run or have to explain them.';
/** URL fragment of the list. With it, filters and pagination do not scroll to the top. */
const ARTICLES = 'articles';
const PREVIEWS: Readonly<Record<Filter['slug'], string>> = {
  '': all,
  technology,
  trends,
  'case-studies': caseStudies,
};
/** Search results with their index. The search field prefetches them on focus. */
const results = lazyPart({
  frontEnd: 'blog',
  load: async () => {
    const module = await import(/* webpackChunkName: "search" */ './search-results.tsx');
    return { ...module, version: REMOTE_VERSION };
  },
});

/** `/blog`, its categories and its pages */
export default function BlogList() {
  const listing = listingOf(posts, useParams());
  return listing ? <List listing={listing} /> : <PostNotFound />;
}

function List({ listing }: { listing: Listing }) {
  const { filter, page } = listing;
  return (
    <>
      <PageMeta {...wordsOf(listing)} path={pathOf(filter, page)} picture={PREVIEWS[filter.slug]} />
      <PageHeader
        title={TITLE}
        subtitle={SUBTITLE}
        picture={<Picture src={kiosk} width={800} height={520} alt="" priority="high" />}
      />
      <Articles listing={listing} />
      <Section
        title="Stay in the Loop"
        lead="New articles by mail, now and then. We know what it is like to get too many alerts."
      >
        <NewsletterForm />
      </Section>
    </>
  );
}

/** Search engines want a unique title and description for each page. */
function wordsOf({ filter, page }: Listing) {
  const category = filter.slug ? `: ${filter.label}` : '';
  const number = page > 1 ? `, page ${page}` : '';
  const part = filter.slug || page > 1 ? ` ${filter.label} articles${number}.` : '';
  return { title: `Blog${category}${number}`, description: SUBTITLE + part };
}

function Articles({ listing }: { listing: Listing }) {
  const { field, words, text, type } = useSearchQuery();
  return (
    <Section title="Latest Articles" id={ARTICLES}>
      <div className="mb-6 flex flex-wrap items-end justify-between gap-x-8 gap-y-4">
        <Filters chosen={listing.filter} />
        <SearchField ref={field} value={text} onChange={type} onFocus={results.prefetch} />
      </div>
      {words ? <LazyArea part={results} what="The search" /> : <Listed listing={listing} />}
    </Section>
  );
}

function Listed({ listing }: { listing: Listing }) {
  return (
    <>
      <p role="status" className="mb-8 text-ink-2 text-small">
        {resultSummary(listing)}
      </p>
      <PostGrid posts={listing.shown} />
      <Pagination listing={listing} hash={`#${ARTICLES}`} />
    </>
  );
}

function Filters({ chosen }: { chosen: Filter }) {
  return (
    <nav aria-label="Categories">
      <ul className="flex flex-wrap gap-2">
        {filters.map(filter => (
          <li key={filter.label}>
            <ButtonLink
              to={`${pathOf(filter)}#${ARTICLES}`}
              size="small"
              variant={filter === chosen ? 'selected' : 'secondary'}
              aria-current={filter === chosen ? 'true' : undefined}
            >
              {filter.label}
            </ButtonLink>
          </li>
        ))}
      </ul>
    </nav>
  );
}
