import { Button } from '@site/kit/button.tsx';
import { NewsletterForm } from '@site/kit/newsletter-form.tsx';
import { PageHeader } from '@site/kit/page-header.tsx';
import { PageMeta } from '@site/kit/page-meta.tsx';
import { Picture } from '@site/kit/picture.tsx';
import { useSearchParams } from '@site/kit/router.ts';
import { Section } from '@site/kit/section.tsx';
import { useHydrated } from '@site/kit/use-hydrated.ts';
import type { Filter } from './listing.ts';
import { filters, listingOf, searchOf, sentenceOf } from './listing.ts';
import { Pages } from './pages.tsx';
import { PostCard } from './post-card.tsx';
import { posts } from './posts.ts';
import './styles.css';
import preview from './pictures/blog.jpg';
import kiosk from './pictures/kiosk.svg';

/** Which build this is. */
export const version = REMOTE_VERSION;

const TITLE = 'Insights, mostly about noticing';
const SUBTITLE =
  'What we learn from teaching cameras to pay attention, written for the people who buy, run or have to explain them.';
const ARTICLES = 'articles';
/** What the page's HTML, rendered ahead of time, knows of the address. */
const NO_SEARCH = new URLSearchParams();

/** `/blog` */
export default function BlogList() {
  return (
    <>
      <PageMeta title="Blog" description={SUBTITLE} path="/blog" picture={preview} />
      <PageHeader
        title={TITLE}
        subtitle={SUBTITLE}
        picture={<Picture src={kiosk} width={800} height={520} alt="" priority="high" />}
      />
      <Articles />
      <Section
        title="Stay in the Loop"
        lead="New articles by mail, now and then. We know what it is like to get too many alerts."
      >
        <NewsletterForm />
      </Section>
    </>
  );
}

function Articles() {
  const [search, setSearch] = useSearchParams();
  const listing = listingOf(posts, useHydrated() ? search : NO_SEARCH);

  function turnTo(page: number) {
    setSearch(searchOf(listing.filter, page));
    document.getElementById(ARTICLES)?.scrollIntoView();
  }

  return (
    <Section title="Latest Articles" id={ARTICLES}>
      <div className="mb-8 flex flex-wrap items-center justify-between gap-x-8 gap-y-4">
        <Filters chosen={listing.filter} onChoose={filter => setSearch(searchOf(filter))} />
        <p role="status" className="text-ink-2 text-small">
          {sentenceOf(listing)}
        </p>
      </div>
      <ul className="grid gap-5 md:grid-cols-2 lg:grid-cols-3">
        {listing.shown.map(post => (
          <li key={post.id}>
            <PostCard post={post} />
          </li>
        ))}
      </ul>
      <Pages listing={listing} onTurn={turnTo} />
    </Section>
  );
}

function Filters({ chosen, onChoose }: { chosen: Filter; onChoose: (filter: Filter) => void }) {
  return (
    <fieldset className="flex flex-wrap gap-2">
      <legend className="sr-only">Categories</legend>
      {filters.map(filter => (
        <Button
          key={filter.label}
          size="small"
          kind={filter === chosen ? 'chosen' : 'quiet'}
          aria-pressed={filter === chosen}
          onClick={() => onChoose(filter)}
        >
          {filter.label}
        </Button>
      ))}
    </fieldset>
  );
}
