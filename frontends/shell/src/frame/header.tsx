import { ButtonLink } from '@site/kit/button.tsx';
import * as paths from '@site/kit/paths.ts';
import { Link } from '@site/kit/router.ts';
import { DesktopNavigation } from './desktop-navigation.tsx';
import { Logo } from './logo.tsx';
import { MobileMenu } from './mobile-menu.tsx';
import { ThemeSwitch } from './theme-switch.tsx';
import { useScrolled } from './use-scrolled.ts';

interface HeaderProps {
  /** Page key: see `pageKeyOf`. */
  page: string;
}

/** The menus have the page as key, so that a page change closes them. */
export function Header({ page }: HeaderProps) {
  const isScrolled = useScrolled();
  return (
    <header
      data-scrolled={isScrolled}
      className="site-header group fixed inset-x-0 top-0 z-20 border-line border-b bg-paper transition-shadow"
    >
      <div className="site-bar mx-auto flex max-w-page items-center gap-4 px-5 md:px-8">
        <Link to={paths.home} className="mr-auto py-2.5">
          <Logo />
        </Link>
        <DesktopNavigation key={`main ${page}`} />
        <ThemeSwitch />
        <div className="hidden lg:block">
          <ButtonLink to={paths.contact} size="small">
            Get Demo
          </ButtonLink>
        </div>
        <MobileMenu key={`menu ${page}`} />
      </div>
    </header>
  );
}
