import { partners } from '@site/kit/brand-lists.ts';
import { Reveal } from '@site/kit/reveal.tsx';
import { Section } from '@site/kit/section.tsx';

const STAGGER_MS = 100;
/** Number of logos at the start of the list that load eagerly and have the size `SMALL`. */
const EAGER = 2;
const SMALL = { width: 80, height: 32 };
const LARGE = { width: 200, height: 80 };

export function Partners() {
  return (
    <Section title="Supported by Industry Leaders">
      <ul className="grid grid-cols-2 items-center gap-6 lg:grid-cols-4">
        {partners.map((partner, at) => (
          <li key={partner.url}>
            <Reveal delayMs={at * STAGGER_MS}>
              <a
                href={partner.url}
                target="_blank"
                rel="noopener"
                className="flex min-h-24 items-center justify-center border border-line p-2"
              >
                <img
                  src={`/partners/${partner.logo}`}
                  alt={partner.name}
                  loading={at < EAGER ? 'eager' : 'lazy'}
                  {...(at < EAGER ? SMALL : LARGE)}
                  className="aspect-5/2 object-contain"
                />
              </a>
            </Reveal>
          </li>
        ))}
      </ul>
    </Section>
  );
}
