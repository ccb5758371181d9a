import { Section } from '@site/kit/section.tsx';

const TEASERS = ['first', 'second', 'third'];

/** Prevents layout shift. */
export function TeasersPlaceholder() {
  return (
    <Section title="Latest Insights">
      <p role="status" className="sr-only">
        Loading…
      </p>
      <ul aria-hidden="true" className="grid gap-5 md:grid-cols-3">
        {TEASERS.map(name => (
          <li key={name} className="h-96 bg-sunk motion-safe:animate-pulse" />
        ))}
      </ul>
    </Section>
  );
}
