import type { Leader } from '@site/kit/brand-lists.ts';
import { leadership } from '@site/kit/brand-lists.ts';
import { ButtonLink } from '@site/kit/button.tsx';
import { InitialsAvatar } from '@site/kit/initials-avatar.tsx';
import { PageHeader } from '@site/kit/page-header.tsx';
import * as paths from '@site/kit/paths.ts';
import { Picture } from '@site/kit/picture.tsx';
import { Reveal } from '@site/kit/reveal.tsx';
import { Section } from '@site/kit/section.tsx';
import { organization, StructuredData } from '@site/kit/structured-data.tsx';
import { CallToAction } from '../frame/call-to-action.tsx';
import { ShellPageMeta } from '../frame/shell-page-meta.tsx';
import { scenes } from '../scenes/scenes.ts';

const SUBTITLE = 'We teach cameras to notice, and to know when to keep quiet.';
const STAGGER_MS = 100;

const JOURNEY = [
  {
    when: '2024',
    title: 'Founded',
    text: 'Our founder had watched enough recordings of things that nobody had watched in time, and started the company.',
  },
  {
    when: '2024',
    title: 'Pre-incubation',
    text: 'The incubator of a technology institute took us in, with desks, mentors and hard questions.',
  },
  {
    when: 'Present',
    title: 'Leading innovation',
    text: 'Members of a cloud and a GPU startup programme, we read video in real time for thousands of locations.',
  },
];

/** `/about` */
export default function About() {
  return (
    <>
      <ShellPageMeta title="About" description={SUBTITLE} path={paths.about} />
      <StructuredData data={organization()} />
      <PageHeader
        title="Pioneering AI Security"
        subtitle={SUBTITLE}
        picture={
          <Picture {...scenes['smart-cities-infrastructure'].whole} alt="" priority="high" />
        }
      />
      <Section title="Our Vision">
        <div className="grid gap-8 lg:grid-cols-picture">
          <p className="max-w-text text-lead">
            The camera over the door should be as useful as the guard beside it: it sees, it
            understands, and it says so in time. Not to watch more people, but to need fewer people
            who only watch.
          </p>
          <div>
            <p className="mb-6 text-ink-2">
              What that takes is twelve building blocks that work with the cameras you have.
            </p>
            <ButtonLink to={paths.solutions} variant="secondary">
              Explore Solutions
            </ButtonLink>
          </div>
        </div>
      </Section>
      <Journey />
      <Section title="Meet Our Leadership">
        <ul className="grid gap-8 sm:grid-cols-2 lg:grid-cols-4">
          {leadership.map(leader => (
            <Person key={leader.role} {...leader} />
          ))}
        </ul>
      </Section>
      <CallToAction lead="Ask us anything about your site. The first answer is free, and so is the second." />
    </>
  );
}

function Journey() {
  return (
    <Section title="Our Journey">
      <ol className="border-seen border-l-2">
        {JOURNEY.map(({ when, title, text }, at) => (
          <li key={title} className="relative pb-10 pl-8 last:pb-0">
            <span
              aria-hidden="true"
              className="absolute top-1.5 -left-1.75 size-3 border-2 border-seen bg-paper"
            />
            <Reveal delayMs={at * STAGGER_MS}>
              <p className="font-semibold text-seen-ink text-small">{when}</p>
              <h3 className="mt-1 text-subheading">{title}</h3>
              <p className="mt-1.5 max-w-text text-ink-2">{text}</p>
            </Reveal>
          </li>
        ))}
      </ol>
    </Section>
  );
}

function Person({ role, name, profileUrl }: Leader) {
  return (
    <li>
      <InitialsAvatar of={name ?? role} className="w-full" />
      <h3 className="mt-4 text-subheading">{name ?? role}</h3>
      {name ? <p className="text-ink-2">{role}</p> : null}
      {profileUrl ? (
        <a
          href={profileUrl}
          target="_blank"
          rel="noopener"
          aria-label={`Professional network: ${name ?? role}`}
          className="inline-flex min-h-11 items-center text-ink-2 text-small underline"
        >
          Professional network
        </a>
      ) : null}
    </li>
  );
}
