import { brand } from '@site/kit/brand.ts';
import { ButtonLink } from '@site/kit/button.tsx';
import * as paths from '@site/kit/paths.ts';
import { Section } from '@site/kit/section.tsx';
import { Recording } from './recording.tsx';

/** `/?variant=classic` */
export default function Classic() {
  return (
    <>
      <Hero />
      <Introduction />
    </>
  );
}

function Hero() {
  return (
    <header className="mx-auto grid max-w-page items-center gap-6 px-5 pt-4 pb-16 md:px-8 lg:grid-cols-hero lg:gap-8 lg:pt-16">
      <div className="fade-up">
        <h1 className="text-title">{brand.tagline}</h1>
        <p className="mt-4 mb-5 max-w-lead text-ink-2 sm:text-lead lg:mt-6 lg:mb-8">
          {brand.blurb}
        </p>
        <div className="flex flex-wrap gap-2 sm:gap-3.5">
          <ButtonLink to={paths.contact}>Request a Consultation</ButtonLink>
          <ButtonLink to="#methodology" variant="secondary">
            See how it works
          </ButtonLink>
        </div>
      </div>
      <Recording />
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
      heading="beside"
    >
      <ul className="grid gap-8">
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
