import { Card } from '@site/kit/card.tsx';
import * as paths from '@site/kit/paths.ts';
import { Link } from '@site/kit/router.ts';
import type { Position } from './positions.ts';
import { firstSentenceOf, TERMS } from './positions.ts';

export function PositionCards({ positions }: { positions: readonly Position[] }) {
  return (
    <ul className="grid gap-5 md:grid-cols-2 lg:grid-cols-3">
      {positions.map(position => (
        <li key={position.slug}>
          <Card className="relative h-full p-6">
            <p className="font-semibold text-seen-ink text-small">{position.department}</p>
            <h3 className="mt-2 text-subheading">
              <Link
                to={paths.position(position.slug)}
                className="after:absolute after:inset-0 after:content-[''] hover:underline"
              >
                {position.title}
              </Link>
            </h3>
            <p className="mt-2 text-ink-2">{firstSentenceOf(position)}</p>
            <p className="mt-4 text-ink-2 text-small">{TERMS.location}</p>
          </Card>
        </li>
      ))}
    </ul>
  );
}
