import { ButtonLink } from '@site/kit/button.tsx';
import { Link, NavLink } from '@site/kit/router.ts';
import { useId, useState } from 'react';
import { navigation } from '../content/navigation.ts';
import { services } from '../content/services.ts';
import { Icon } from './icon.tsx';

const look = 'flex min-h-12 grow items-center text-lg aria-[current=page]:font-semibold';

/** The navigation where there is little room, below the bar. */
export function MobileMenu({ id, isOpen }: { id: string; isOpen: boolean }) {
  const [opened, setOpened] = useState<string>();
  return (
    <nav
      id={id}
      aria-label="Menu"
      hidden={!isOpen}
      className="max-h-[calc(100dvh-4rem)] overflow-y-auto border-line border-t px-5 pt-2 pb-6 md:px-8 lg:hidden"
    >
      <ul>
        {navigation.map(entry => (
          <li key={entry.path} className="border-line border-b">
            {'menu' in entry ? (
              <Dropdown
                {...entry}
                isOpen={opened === entry.menu}
                onToggle={() => setOpened(opened === entry.menu ? undefined : entry.menu)}
              />
            ) : (
              <NavLink to={entry.path} end={entry.path === '/'} className={look}>
                {entry.title}
              </NavLink>
            )}
          </li>
        ))}
      </ul>
      <ButtonLink to="/contact" className="mt-6 w-full">
        Request Demo
      </ButtonLink>
    </nav>
  );
}

interface DropdownProps {
  title: string;
  path: string;
  isOpen: boolean;
  onToggle: () => void;
}

function Dropdown({ title, path, isOpen, onToggle }: DropdownProps) {
  const list = useId();
  return (
    <>
      <div className="flex">
        <NavLink to={path} className={look}>
          {title}
        </NavLink>
        <button
          type="button"
          aria-label="All services"
          aria-expanded={isOpen}
          aria-controls={list}
          onClick={onToggle}
          className="inline-flex size-12 cursor-pointer items-center justify-center"
        >
          <Icon
            name="down"
            className={`size-5 transition-transform ${isOpen ? 'rotate-180' : ''}`}
          />
        </button>
      </div>
      <ul id={list} hidden={!isOpen} className="max-h-[500px] overflow-y-auto pb-3">
        {services.map(service => (
          <li key={service.id}>
            <Link to={`/services/${service.id}`} className="flex min-h-12 items-center gap-3 py-2">
              <Icon name={service.icon} className="size-6 text-seen-ink" />
              <span>
                <span className="block font-medium">{service.menu}</span>
                <span className="block text-ink-2 text-small">{service.hint}</span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}
