import { brand } from '@site/kit/brand.ts';
import { ButtonLink } from '@site/kit/button.tsx';
import * as paths from '@site/kit/paths.ts';
import { Reveal } from '@site/kit/reveal.tsx';
import { Link } from '@site/kit/router.ts';
import { Section } from '@site/kit/section.tsx';
import { Film } from './film.tsx';

const FEATURES = [
  {
    title: 'Predictive safety monitoring',
    text: 'AI-driven work management: what is about to go wrong is seen while it can still be put right.',
    solution: 'advanced-threat-detection',
  },
  {
    title: 'AI-visual data analytics',
    text: 'Video analysis that detects unusual patterns while keeping privacy and compliance.',
    solution: 'visual-surveillance-analytics',
  },
  {
    title: 'Real-time alerts and insights',
    text: 'Instant notifications with context, sent to the devices that you prefer.',
    solution: 'smart-alert-system',
  },
  {
    title: 'Seamless system integration',
    text: 'Easy setup, multi-device support and a dashboard that you can customize.',
    solution: 'web-ai-dashboard',
  },
];

/** `/?variant=impact` */
export default function Impact() {
  return (
    <>
      <header className="mx-auto grid max-w-page items-center gap-10 px-5 pt-10 pb-16 md:px-8 lg:grid-cols-film lg:pt-16">
        <div className="fade-up">
          <p className="mb-5 font-mono text-seen-ink text-small">
            TRANSFORMING INSIGHTS INTO ACTION
          </p>
          <h1 className="text-title">AI. DATA. IMPACT.</h1>
          <p className="mt-6 mb-8 max-w-lead text-ink-2 text-lead">
            {brand.name} turns everyday data into actionable intelligence for safer, smarter
            management.
          </p>
          <div className="flex flex-wrap gap-3.5">
            <ButtonLink to={paths.contact}>Get a Demo</ButtonLink>
            <ButtonLink to={paths.solutions} variant="secondary">
              Explore Solutions
            </ButtonLink>
          </div>
        </div>
        <Film />
      </header>
      <Section title="Core Features">
        <ul className="grid gap-5 sm:grid-cols-2">
          {FEATURES.map(({ title, text, solution }) => (
            <li key={solution}>
              <Reveal className="h-full">
                <Link
                  to={paths.solution(solution)}
                  className="card-seen block h-full border border-line bg-raised p-6"
                >
                  <h3 className="text-subheading">{title}</h3>
                  <p className="mt-1.5 text-ink-2">{text}</p>
                </Link>
              </Reveal>
            </li>
          ))}
        </ul>
        <p className="mt-6">
          <Link to={paths.solutions} className="inline-flex min-h-11 items-center underline">
            Explore all features
          </Link>
        </p>
      </Section>
    </>
  );
}
