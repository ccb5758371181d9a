import * as paths from '@site/kit/paths.ts';
import { Link, NavLink } from '@site/kit/router.ts';
import { useEscape } from '@site/kit/use-escape.ts';
import { useState } from 'react';
import { navigation } from '../content/navigation.ts';
import { services } from '../content/services.ts';
import { Icon } from './icon.tsx';

const PANEL = 'services-panel';
const baseClasses = 'py-3.5 text-ink-2 text-small hover:text-ink aria-[current=page]:text-ink';

export function DesktopNavigation() {
  return (
    <nav aria-label="Main" className="hidden self-stretch lg:block">
      <ul className="flex h-full items-center gap-6">
        {navigation.map(entry =>
          'menu' in entry ? (
            <ServicesMenu key={entry.path} {...entry} />
          ) : (
            <li key={entry.path}>
              <NavLink to={entry.path} end={entry.path === '/'} className={baseClasses}>
                {entry.title}
              </NavLink>
            </li>
          ),
        )}
      </ul>
    </nav>
  );
}

/**
 * The panel opens by hover, or by the button. Both work before hydration: hover is CSS (`styles.css`), and
 * the button opens a popover.
 */
function ServicesMenu({ title, path }: { title: string; path: string }) {
  const [isDismissed, setIsDismissed] = useState(false);
  // Escape must close the panel even while the pointer stays over it (WCAG 2.2, 1.4.13).
  useEscape(() => setIsDismissed(true));
  return (
    <li
      data-dismissed={isDismissed}
      onPointerEnter={() => setIsDismissed(false)}
      className="services-menu flex h-full items-center"
    >
      <NavLink to={path} className={baseClasses}>
        {title}
      </NavLink>
      <button
        type="button"
        aria-label="All services"
        popoverTarget={PANEL}
        className="-mr-5 inline-flex size-11 cursor-pointer items-center pl-1 text-ink-2"
      >
        <Icon name="down" className="size-4" />
      </button>
      <div id={PANEL} popover="auto" className="services-panel">
        <ul className="grid grid-cols-3 gap-1 border border-line bg-raised p-3">
          {services.map(service => (
            <li key={service.id}>
              <Link
                to={paths.service(service.id)}
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
