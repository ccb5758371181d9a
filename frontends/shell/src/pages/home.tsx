import { brand } from '@site/kit/brand.ts';
import { LazyArea } from '@site/kit/lazy-area.tsx';
import { lazyPart } from '@site/kit/lazy-part.ts';
import { PageMeta } from '@site/kit/page-meta.tsx';
import * as paths from '@site/kit/paths.ts';
import { Reveal } from '@site/kit/reveal.tsx';
import { useLocation } from '@site/kit/router.ts';
import { Section } from '@site/kit/section.tsx';
import { organization, StructuredData } from '@site/kit/structured-data.tsx';
import { WithFooter } from '@site/kit/footer-marker.tsx';
import { phases } from '../content/methodology.ts';
import { ClosingCall } from '../frame/closing-call.tsx';
import { homeVariantOf } from '../home-variants.ts';
import { remoteParts } from '../remote-parts.ts';
import { Partners } from './home/partners.tsx';
import { TeasersPlaceholder } from './home/teasers-placeholder.tsx';

/** What each variant opens with. */
const openings = {
  classic: lazyPart({
    frontEnd: 'shell',
    load: () => import(/* webpackChunkName: "classic" */ './home/classic.tsx'),
  }),
  impact: lazyPart({
    frontEnd: 'shell',
    load: () => import(/* webpackChunkName: "impact" */ './home/impact.tsx'),
  }),
};
const solutionsPreview = lazyPart({
  frontEnd: 'shell',
  load: () => import(/* webpackChunkName: "solutions-preview" */ './home/solutions-preview.tsx'),
});

/** Milliseconds between one card of the methodology and the next. */
const STAGGER = 150;

/** Fetches the code of the brand's variant ahead. */
export function prefetchHome(): void {
  openings[homeVariantOf('')].prefetch();
}

/** `/`, in one of two variants: the brand's, or the one that `?variant=` asks for. */
export function Home() {
  const variant = homeVariantOf(useLocation().search);
  return (
    <>
      <PageMeta description={brand.blurb} path={paths.home} />
      <StructuredData data={organization()} />
      <LazyArea key={variant} part={openings[variant]} />
      <LazyArea part={solutionsPreview} when="near" Placeholder={PreviewPlaceholder} />
      <Section title="From first walk-through to round-the-clock watch" id="methodology">
        <ol className="grid gap-5 sm:grid-cols-2 lg:grid-cols-6">
          {phases.map((phase, at) => (
            <li key={phase.title} className={at < 3 ? 'lg:col-span-2' : 'lg:col-span-3'}>
              <Reveal
                delay={at * STAGGER}
                className="card-seen h-full border border-line bg-raised p-6"
              >
                <p className="mb-4 font-mono text-seen-ink text-small">{`0${at + 1}`}</p>
                <h3 className="text-subheading">{phase.title}</h3>
                <p className="mt-1.5 text-ink-2">{phase.description}</p>
              </Reveal>
            </li>
          ))}
        </ol>
      </Section>
      <ClosingCall lead="Show us a floor plan and an hour of footage. We will show you what your cameras already know." />
      <LazyArea part={remoteParts.blogTeasers} when="near" Placeholder={TeasersPlaceholder} />
      <Partners />
      <WithFooter />
    </>
  );
}

/** As high as what comes. */
function PreviewPlaceholder() {
  return <div className="min-h-96" />;
}
