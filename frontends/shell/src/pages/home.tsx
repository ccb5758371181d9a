import { brand } from '@site/kit/brand.ts';
import { FooterMarker } from '@site/kit/footer-marker.tsx';
import { LazyArea } from '@site/kit/lazy-area.tsx';
import { lazyPart } from '@site/kit/lazy-part.ts';
import { PageMeta } from '@site/kit/page-meta.tsx';
import * as paths from '@site/kit/paths.ts';
import { Reveal } from '@site/kit/reveal.tsx';
import { useLocation } from '@site/kit/router.ts';
import { Section } from '@site/kit/section.tsx';
import { organization, StructuredData } from '@site/kit/structured-data.tsx';
import { phases } from '../content/methodology.ts';
import { CallToAction } from '../frame/call-to-action.tsx';
import { homeVariantOf } from '../home-variants.ts';
import { remotePart } from '../remote-part.ts';
import { Partners } from './home/partners.tsx';
import { TeasersPlaceholder } from './home/teasers-placeholder.tsx';

const heroes = {
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

export const teasers = remotePart('blog/blog-teasers', 'low');

const STAGGER_MS = 150;

export function prefetchHome(): void {
  heroes[homeVariantOf('')].prefetch();
}

/** `/`, in the brand's variant or that of `?variant=` */
export function Home() {
  const variant = homeVariantOf(useLocation().search);
  return (
    <>
      <PageMeta description={brand.blurb} path={paths.home} />
      <StructuredData data={organization()} />
      <LazyArea key={variant} part={heroes[variant]} />
      <LazyArea part={solutionsPreview} when="near-viewport" Placeholder={PreviewPlaceholder} />
      <Section title="From first walk-through to round-the-clock watch" id="methodology">
        <ol className="grid sm:grid-cols-2 lg:grid-cols-5">
          {phases.map((phase, at) => (
            <li key={phase.title} className="relative border-line border-t">
              <span className="absolute size-3 bg-seen" />
              <Reveal delayMs={at * STAGGER_MS} className="py-6 pr-6">
                <p className="mb-4 font-mono text-seen-ink text-small">{`0${at + 1}`}</p>
                <h3 className="text-subheading">{phase.title}</h3>
                <p className="mt-1.5 text-ink-2">{phase.description}</p>
              </Reveal>
            </li>
          ))}
        </ol>
      </Section>
      <CallToAction lead="Show us a floor plan and an hour of footage. We will show you what your cameras already know." />
      <LazyArea part={teasers.part} when="near-viewport" Placeholder={TeasersPlaceholder} />
      <Partners />
      <FooterMarker />
    </>
  );
}

/** Prevents layout shift. */
function PreviewPlaceholder() {
  return <div className="min-h-96" />;
}
