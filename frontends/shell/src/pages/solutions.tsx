import { ButtonLink } from '@site/kit/button.tsx';
import { PageHeader } from '@site/kit/page-header.tsx';
import * as paths from '@site/kit/paths.ts';
import { Picture } from '@site/kit/picture.tsx';
import { useReveal } from '@site/kit/reveal.tsx';
import type { Solution } from '../content/solutions.ts';
import { solutions } from '../content/solutions.ts';
import { CallToAction } from '../frame/call-to-action.tsx';
import { ShellPageMeta } from '../frame/shell-page-meta.tsx';
import { solutionPicture } from '../scenes/solution-pictures.ts';

const SUBTITLE = 'Twelve building blocks. Take the ones your site needs, and add others later.';

/** `/solutions` */
export default function Solutions() {
  return (
    <>
      <ShellPageMeta title="Solutions" description={SUBTITLE} path={paths.solutions} />
      <PageHeader
        title="Advanced Security Solutions"
        subtitle={SUBTITLE}
        picture={<Picture {...solutionPicture('custom-ai-models')} alt="" priority="high" />}
      >
        <ButtonLink to={paths.contact}>Request a Demo</ButtonLink>
      </PageHeader>
      <div className="border-line border-t">
        <div className="mx-auto grid max-w-page gap-x-12 px-5 py-12 md:px-8 lg:grid-cols-index">
          <Index />
          <div>
            {solutions.map((solution, at) => (
              <SolutionSection key={solution.id} {...solution} at={at} />
            ))}
          </div>
        </div>
      </div>
      <CallToAction lead="Not sure which of them you need? Most people start with one camera and one question." />
    </>
  );
}

function Index() {
  return (
    <nav
      aria-label="Solutions"
      className="mb-8 lg:sticky lg:top-24 lg:mb-0 lg:self-start lg:border-line lg:border-l"
    >
      <ol className="grid sm:grid-cols-2 lg:grid-cols-1">
        {solutions.map(({ id, title }) => (
          <li key={id}>
            <a
              href={`#${id}`}
              className="flex min-h-11 items-center text-ink-2 text-small hover:text-ink lg:pl-5"
            >
              {title}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function SolutionSection({ id, title, description, features, at }: Solution & { at: number }) {
  return (
    <section
      {...useReveal<HTMLElement>()}
      id={id}
      aria-labelledby={`${id}-title`}
      className="grid gap-x-10 gap-y-5 border-line border-t py-10 first:border-t-0 first:pt-0 md:grid-cols-2"
    >
      <div>
        <p className="font-mono text-seen-ink text-small">{String(at + 1).padStart(2, '0')}</p>
        <h2 id={`${id}-title`} className="mt-2 text-heading">
          {title}
        </h2>
        <p className="mt-3 text-ink-2">{description}</p>
        <ul className="mt-5 border-seen border-l-2 pl-6">
          {features.map(feature => (
            <li key={feature} className="py-1.5">
              {feature}
            </li>
          ))}
        </ul>
      </div>
      <Picture
        {...solutionPicture(id)}
        alt=""
        className={`self-center ${at % 2 === 0 ? '' : 'md:order-first'}`}
      />
    </section>
  );
}
