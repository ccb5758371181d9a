import { Link, NavLink } from '@site/kit/router.ts';
import type { FocusEvent } from 'react';
import { useCallback, useId, useState } from 'react';
import { navigation } from '../content/navigation.ts';
import { services } from '../content/services.ts';
import { Icon } from './icon.tsx';
import { useEscape } from './use-escape.ts';

const look = 'py-3 text-ink-2 text-small hover:text-ink aria-[current=page]:text-ink';

/** The navigation where there is room for it in one line. */
export function DesktopNavigation() {
  return (
    <nav aria-label="Main" className="hidden lg:block">
      <ul className="flex items-center gap-6">
        {navigation.map(entry =>
          'menu' in entry ? (
            <ServicesMenu key={entry.path} {...entry} />
          ) : (
            <li key={entry.path}>
              <NavLink to={entry.path} end={entry.path === '/'} className={look}>
                {entry.title}
              </NavLink>
            </li>
          ),
        )}
      </ul>
    </nav>
  );
}

/** A link, and beside it what opens all services: the mouse by hovering, the keyboard by a button. */
function ServicesMenu({ title, path }: { title: string; path: string }) {
  const [isOpen, setIsOpen] = useState(false);
  const panel = useId();
  useEscape(
    isOpen,
    useCallback(() => setIsOpen(false), []),
  );

  function closeWhereLeft(event: FocusEvent) {
    if (!event.currentTarget.contains(event.relatedTarget)) {
      setIsOpen(false);
    }
  }

  return (
    <li
      onPointerEnter={event => event.pointerType === 'mouse' && setIsOpen(true)}
      onPointerLeave={event => event.pointerType === 'mouse' && setIsOpen(false)}
      onBlur={closeWhereLeft}
      className="flex items-center"
    >
      <NavLink to={path} className={look}>
        {title}
      </NavLink>
      <button
        type="button"
        aria-label="All services"
        aria-expanded={isOpen}
        aria-controls={panel}
        onClick={() => setIsOpen(!isOpen)}
        className="inline-flex h-11 w-6 cursor-pointer items-center justify-center text-ink-2"
      >
        <Icon name="down" className="size-4" />
      </button>
      <div id={panel} hidden={!isOpen} className="absolute top-full right-8 w-[54rem] max-w-[92vw]">
        <ul className="grid grid-cols-3 gap-1 border border-line bg-raised p-3 shadow-header">
          {services.map(service => (
            <li key={service.id}>
              <Link
                to={`/services/${service.id}`}
                onClick={() => setIsOpen(false)}
                className="flex h-full gap-3 rounded-control p-3 hover:bg-sunk"
              >
                <Icon name={service.icon} className="mt-0.5 size-6 text-seen-ink" />
                <span>
                  <span className="block font-semibold">{service.menu}</span>
                  <span className="block text-ink-2 text-small">{service.hint}</span>
                </span>
              </Link>
            </li>
          ))}
        </ul>
      </div>
    </li>
  );
}
