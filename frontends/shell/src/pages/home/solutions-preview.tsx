import * as paths from '@site/kit/paths.ts';
import { Reveal } from '@site/kit/reveal.tsx';
import { Link } from '@site/kit/router.ts';
import { Section } from '@site/kit/section.tsx';
import { solutions } from '../../content/solutions.ts';
import { SolutionTeaser } from '../solution-teaser.tsx';

const SHOWN = [
  'advanced-threat-detection',
  'smart-alert-system',
  'web-ai-dashboard',
  'device-health-check',
  'deployment-options',
  'custom-ai-models',
];
const STAGGER_MS = 100;

export default function SolutionsPreview() {
  const shown = solutions.filter(({ id }) => SHOWN.includes(id));
  return (
    <Section
      title="Twelve solutions, one pair of eyes"
      lead="Start with what hurts most. Each of them works alone, and all of them share one dashboard."
    >
      <ul className="grid gap-x-10 sm:grid-cols-2 lg:grid-cols-3">
        {shown.map((solution, at) => (
          <li key={solution.id}>
            <Reveal delayMs={at * STAGGER_MS} className="h-full border-line border-t py-6">
              <SolutionTeaser solution={solution} />
            </Reveal>
          </li>
        ))}
      </ul>
      <p className="mt-4">
        <Link to={paths.solutions} className="inline-flex min-h-11 items-center underline">
          Explore Solutions
        </Link>
      </p>
    </Section>
  );
}
