import { Button } from '@site/kit/button.tsx';
import * as paths from '@site/kit/paths.ts';
import { useSearchParams } from '@site/kit/router.ts';
import { useBrowserValue } from '@site/kit/use-hydrated.ts';
import { useEffect, useRef, useState } from 'react';
import { ApplyLink } from './apply-link.tsx';
import type { Position } from './positions.ts';
import { departments, positions, TERMS } from './positions.ts';

type Filter = Position['department'] | 'All';

/** The open positions, by department. An address with `?position=<id>` opens one of them. */
export function PositionList({ onApply }: { onApply: (position: Position) => void }) {
  const [filter, setFilter] = useState<Filter>('All');
  const [search] = useSearchParams();
  const asked = useBrowserValue(() => Number(search.get('position')), 0);
  const shown = positions.filter(({ department }) => filter === 'All' || department === filter);
  return (
    <>
      <div className="flex flex-wrap gap-2 noscript:hidden">
        {(['All', ...departments] as const).map(department => (
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
          <li key={position.id} id={`position-${position.id}`}>
            <Details
              key={asked === position.id ? 'asked for' : 'listed'}
              position={position}
              isAskedFor={asked === position.id}
              onApply={() => onApply(position)}
            />
          </li>
        ))}
      </ul>
    </>
  );
}

interface DetailsProps {
  position: Position;
  isAskedFor: boolean;
  onApply: () => void;
}

function Details({ position, isAskedFor, onApply }: DetailsProps) {
  const { id, title, department, description, requirements, benefits } = position;
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (isAskedFor) {
      box.current?.scrollIntoView();
    }
  }, [isAskedFor]);
  return (
    <details ref={box} open={isAskedFor} className="group border-line border-t">
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
        <Points title="What you bring" points={requirements} />
        <Points title="What you get" points={benefits} />
        <div>
          <ApplyLink to={paths.application(id)} onOpen={onApply}>
            Apply for this position<span className="sr-only">: {title}</span>
          </ApplyLink>
        </div>
      </div>
    </details>
  );
}

function Points({ title, points }: { title: string; points: readonly string[] }) {
  return (
    <div>
      <h4 className="font-semibold">{title}</h4>
      <ul className="mt-2 list-[square] pl-5 text-ink-2">
        {points.map(point => (
          <li key={point} className="mt-1">
            {point}
          </li>
        ))}
      </ul>
    </div>
  );
}
