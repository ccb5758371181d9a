import { brand } from '@site/kit/brand.ts';
import { ButtonLink } from '@site/kit/button.tsx';
import { LazyArea } from '@site/kit/lazy-area.tsx';
import { lazyPart } from '@site/kit/lazy-part.ts';
import { PageMeta } from '@site/kit/page-meta.tsx';
import * as paths from '@site/kit/paths.ts';
import { Picture } from '@site/kit/picture.tsx';
import { Reveal } from '@site/kit/reveal.tsx';
import { useLocation } from '@site/kit/router.ts';
import { Section } from '@site/kit/section.tsx';
import { organization, StructuredData } from '@site/kit/structured-data.tsx';
import { WithFooter } from '@site/kit/with-footer.tsx';
import { phases } from '../content/methodology.ts';
import { ClosingCall } from '../frame/closing-call.tsx';
import { homeVariantOf } from '../home-variants.ts';
import { remoteParts } from '../remote-parts.ts';
import { opening } from '../scenes/scenes.ts';
import { Partners } from './home/partners.tsx';
import { TeasersPlaceholder } from './home/teasers-placeholder.tsx';

const impact = lazyPart({
  frontEnd: 'shell',
  load: () => import(/* webpackChunkName: "impact" */ './impact.tsx'),
});
const solutionsPreview = lazyPart({
  frontEnd: 'shell',
  load: () => import(/* webpackChunkName: "solutions-preview" */ './home/solutions-preview.tsx'),
});

/** Milliseconds between one card of the methodology and the next. */
const STAGGER = 150;

/** `/`, in one of two variants: the brand's, or the one that `?variant=` asks for. */
export function Home() {
  const { search } = useLocation();
  return (
    <>
      <PageMeta description={brand.blurb} path={paths.home} />
      <StructuredData data={organization()} />
      {homeVariantOf(search) === 'impact' ? <LazyArea part={impact} /> : <Classic />}
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

function Classic() {
  return (
    <>
      <Hero />
      <Introduction />
    </>
  );
}

function Hero() {
  return (
    <header className="mx-auto grid max-w-page items-center gap-8 px-5 pt-10 pb-16 md:px-8 lg:grid-cols-hero lg:pt-16">
      <div className="fade-up">
        <p className="mb-5 flex items-center gap-2.5 font-mono text-seen-ink text-small">
          <span aria-hidden="true" className="size-2 rounded-full bg-alert" />
          cam-04 · 3 people · 1 alert
        </p>
        <h1 className="text-title">{brand.tagline}</h1>
        <p className="mt-6 mb-8 max-w-lead text-ink-2 text-lead">{brand.blurb}</p>
        <div className="flex flex-wrap gap-3.5">
          <ButtonLink to={paths.contact}>Request a Consultation</ButtonLink>
          <ButtonLink to="#methodology" reloadDocument kind="quiet">
            See how it works
          </ButtonLink>
        </div>
      </div>
      <Picture
        {...opening}
        priority="high"
        alt="A shop seen by a camera: shoppers, staff and a queue found, one person marked as an alert"
      />
    </header>
  );
}

const POINTS = [
  {
    label: 'detect',
    title: 'It looks at every frame',
    text: 'Models trained for your kind of site read all cameras at once, in real time, and mark what does not belong.',
  },
  {
    label: 'alert',
    title: 'It tells the right person',
    text: 'An alert carries the picture, the place and the reason, and reaches the phone of whoever can act on it.',
  },
  {
    label: 'deploy',
    title: 'It runs where your video may go',
    text: 'In the cloud, or on an edge device on your premises, beside the cameras and recorders that you have today.',
  },
];

function Introduction() {
  return (
    <Section
      title="A guard who never looks away"
      lead="Most recordings are watched after the damage is done. Ours are watched while it can still be prevented."
    >
      <ul className="grid gap-10 md:grid-cols-3">
        {POINTS.map(point => (
          <li key={point.label} className="border-seen border-l-2 pl-5">
            <p className="font-mono text-seen-ink text-small">{point.label}</p>
            <h3 className="mt-2 text-subheading">{point.title}</h3>
            <p className="mt-1.5 text-ink-2">{point.text}</p>
          </li>
        ))}
      </ul>
    </Section>
  );
}
