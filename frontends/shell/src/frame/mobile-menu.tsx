import { ButtonLink } from '@site/kit/button.tsx';
import * as paths from '@site/kit/paths.ts';
import { Link, NavLink } from '@site/kit/router.ts';
import { useHeldPage } from '@site/kit/use-held-page.ts';
import type { MouseEvent } from 'react';
import { useState } from 'react';
import { navigation } from '../content/navigation.ts';
import { services } from '../content/services.ts';
import { Icon } from './icon.tsx';

const MENU = 'mobile-menu';
const baseClasses = 'flex min-h-12 grow items-center text-lg aria-[current=page]:font-semibold';

/** Popover and `details` work even without JavaScript. */
export function MobileMenu() {
  const [isOpen, setIsOpen] = useState(false);
  useHeldPage(isOpen);
  return (
    <>
      <button
        type="button"
        aria-label="Menu"
        popoverTarget={MENU}
        className="inline-flex size-11 cursor-pointer items-center justify-center lg:hidden"
      >
        <Icon name="menu" className="size-6 group-has-[.mobile-menu:popover-open]:hidden" />
        <Icon name="close" className="hidden size-6 group-has-[.mobile-menu:popover-open]:block" />
      </button>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a key that presses a link in it also fires a click */}
      <nav
        id={MENU}
        popover="auto"
        aria-label="Menu"
        onClick={closeAfterLink}
        onToggle={({ newState }) => setIsOpen(newState === 'open')}
        className="mobile-menu"
      >
        <ul>
          {navigation.map(entry => (
            <li key={entry.path} className="border-line border-b">
              {'menu' in entry ? (
                <Dropdown {...entry} />
              ) : (
                <NavLink to={entry.path} end={entry.path === '/'} className={baseClasses}>
                  {entry.title}
                </NavLink>
              )}
            </li>
          ))}
        </ul>
        <ButtonLink to={paths.contact} className="mt-6 w-full">
          Request Demo
        </ButtonLink>
      </nav>
    </>
  );
}

/** A link to the current page causes no page change that would close the menu. */
function closeAfterLink({ target, currentTarget }: MouseEvent<HTMLElement>) {
  if (target instanceof Element && target.closest('a')) {
    currentTarget.hidePopover();
  }
}

/** The browser keeps only one `details` of the same name open. */
function Dropdown({ title, path, menu }: { title: string; path: string; menu: string }) {
  return (
    <div className="relative">
      <NavLink to={path} className={`mr-12 ${baseClasses}`}>
        {title}
      </NavLink>
      <details name={MENU} id={`${MENU}-${menu}`} className="group/list">
        <summary
          aria-label="All services"
          className="absolute top-0 right-0 inline-flex size-12 cursor-pointer list-none items-center justify-center"
        >
          <Icon
            name="down"
            className="size-5 group-open/list:rotate-180 motion-safe:transition-transform"
          />
        </summary>
        <ul className="max-h-125 overflow-y-auto pb-3">
          {services.map(service => (
            <li key={service.id}>
              <Link
                to={paths.service(service.id)}
                className="flex min-h-12 items-center gap-3 py-2"
              >
                <Icon name={service.icon} className="size-6 text-seen-ink" />
                <span>
                  <span className="block font-medium">{service.menu}</span>
                  <span className="block text-ink-2 text-small">{service.hint}</span>
                </span>
              </Link>
            </li>
          ))}
        </ul>
      </details>
    </div>
  );
}
