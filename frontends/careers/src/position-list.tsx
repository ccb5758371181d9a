import { Button, ButtonLink } from '@site/kit/button.tsx';
import * as paths from '@site/kit/paths.ts';
import { useState } from 'react';
import { ApplyLink } from './apply-link.tsx';
import { FORM } from './in-page-application.tsx';
import { openOn } from './open-positions.ts';
import { Points } from './points.tsx';
import type { Position } from './positions.ts';
import { TERMS } from './positions.ts';
import { useToday } from './use-today.ts';

const ALL = 'All';

export function PositionList({ onApply }: { onApply: (position: Position) => void }) {
  const [filter, setFilter] = useState(ALL);
  const today = useToday();
  const open = openOn(today);
  const shown = open.filter(({ department }) => filter === ALL || department === filter);
  const departments = new Set(open.map(({ department }) => department));
  return (
    <div data-day={today}>
      <div className="flex flex-wrap gap-2 noscript:hidden">
        {[ALL, ...departments].map(department => (
          <Button
            key={department}
            variant={department === filter ? 'selected' : 'secondary'}
            size="small"
            aria-pressed={department === filter}
            onClick={() => setFilter(department)}
          >
            {department}
          </Button>
        ))}
      </div>
      <p role="status" className="mt-4 text-ink-2 text-small">
        {shown.length === 1 ? '1 position' : `${shown.length} positions`}
      </p>
      <ul className="mt-4 border-line border-b">
        {shown.map(position => (
          <li key={position.slug}>
            <Details position={position} onApply={() => onApply(position)} />
          </li>
        ))}
      </ul>
    </div>
  );
}

interface DetailsProps {
  position: Position;
  onApply: () => void;
}

function Details({ position, onApply }: DetailsProps) {
  const { slug, title, department, description, requirements, benefits } = position;
  const path = paths.position(slug);
  return (
    <details className="group border-line border-t">
      <summary className="flex cursor-pointer flex-wrap items-baseline gap-x-6 gap-y-1 py-5">
        <h3 className="grow text-subheading">{title}</h3>
        <span className="text-ink-2 text-small">
          {department} · {TERMS.type} · {TERMS.location}
        </span>
        <span aria-hidden="true" className="ml-auto text-seen-ink group-open:rotate-45">
          +
        </span>
      </summary>
      <div className="grid gap-x-10 gap-y-6 pb-8 md:grid-cols-2">
        <p className="max-w-text text-ink-2 md:col-span-2">
          {description} For: {TERMS.experience}.
        </p>
        <Points title="What you bring" points={requirements} as="h4" />
        <Points title="What you get" points={benefits} as="h4" />
        <div className="flex flex-wrap gap-3 md:col-span-2">
          <ApplyLink to={`${path}#${FORM}`} onOpen={onApply}>
            Apply for this position<span className="sr-only">: {title}</span>
          </ApplyLink>
          <ButtonLink to={path} variant="secondary">
            The position’s page<span className="sr-only">: {title}</span>
          </ButtonLink>
        </div>
      </div>
    </details>
  );
}
