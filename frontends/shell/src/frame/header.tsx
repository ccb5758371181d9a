import { ButtonLink } from '@site/kit/button.tsx';
import { Link, useLocation } from '@site/kit/router.ts';
import { useCallback, useState } from 'react';
import { DesktopNavigation } from './desktop-navigation.tsx';
import { Icon } from './icon.tsx';
import { Logo } from './logo.tsx';
import { MobileMenu } from './mobile-menu.tsx';
import { ThemeSwitch } from './theme-switch.tsx';
import { useEscape } from './use-escape.ts';
import { useScrolled } from './use-scrolled.ts';

const MENU = 'mobile-menu';

/** The bar at the top of every page. */
export function Header() {
  const isScrolled = useScrolled();
  const { pathname } = useLocation();
  // The menu is open for the page it was opened on, so that a change of the page closes it.
  const [openOn, setOpenOn] = useState<string>();
  const isOpen = openOn === pathname;
  useEscape(
    isOpen,
    useCallback(() => setOpenOn(undefined), []),
  );
  return (
    <header
      data-raised={isScrolled || isOpen}
      className="site-header group fixed inset-x-0 top-0 z-20 border-line border-b bg-paper transition-shadow data-[raised=true]:shadow-header"
    >
      <div className="mx-auto flex h-header max-w-page items-center gap-4 px-5 transition-[height] group-data-[raised=true]:h-16 md:px-8">
        <Link to="/" className="mr-auto py-2">
          <Logo />
        </Link>
        <DesktopNavigation key={pathname} />
        <ThemeSwitch />
        <div className="hidden lg:block">
          <ButtonLink to="/contact" size="small">
            Get Demo
          </ButtonLink>
        </div>
        <button
          type="button"
          aria-label="Menu"
          aria-expanded={isOpen}
          aria-controls={MENU}
          onClick={() => setOpenOn(isOpen ? undefined : pathname)}
          className="inline-flex size-11 cursor-pointer items-center justify-center lg:hidden"
        >
          <Icon name={isOpen ? 'close' : 'menu'} />
        </button>
      </div>
      <MobileMenu id={MENU} key={pathname} isOpen={isOpen} />
    </header>
  );
}
