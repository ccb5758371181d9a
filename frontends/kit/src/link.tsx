import type { ComponentProps, ReactNode } from 'react';
import { useEffect } from 'react';
import { BrowserRouter as Router, useLocation, useNavigate } from 'react-router-dom';

interface LinkProps extends Omit<ComponentProps<'a'>, 'href'> {
  /** Path of this site, or fragment of this page. Undefined if the target is not known yet. */
  to: string | undefined;
}

/**
 * Plain anchor, which `BrowserRouter` follows. React Router's `Link` uses eight contexts and hooks. A phone
 * would run them for about fifty links in the first view of a page.
 */
export function Link({ to, ...rest }: LinkProps) {
  return <a {...rest} href={to} />;
}

/** Marks the current page with `aria-current`. Without `end` it also matches pages below its path. */
export function NavLink({ end = false, ...rest }: LinkProps & { end?: boolean }) {
  const { pathname } = useLocation();
  const isCurrent = pathname === rest.to || (!end && pathname.startsWith(`${rest.to}/`));
  return <Link {...rest} aria-current={isCurrent ? 'page' : undefined} />;
}

/** Router with one listener for all links, including those in articles, which React does not know. */
export function BrowserRouter({ children }: { children: ReactNode }) {
  return (
    <Router>
      <LinkNavigation>{children}</LinkNavigation>
    </Router>
  );
}

/** Wraps the site, because a sibling that the server does not render would change `useId`'s ids. */
function LinkNavigation({ children }: { children: ReactNode }) {
  const navigate = useNavigate();
  useEffect(() => {
    function follow(event: MouseEvent) {
      const link = linkOf(event);
      if (link) {
        event.preventDefault();
        // As in browsers, a link to the current URL adds no history entry.
        navigate(link.pathname + link.search + link.hash, { replace: link.href === location.href });
      }
    }
    document.addEventListener('click', follow);
    return () => document.removeEventListener('click', follow);
  }, [navigate]);
  return children;
}

/** Internal link that a click follows in this tab, unless a handler prevents the default. */
function linkOf(event: MouseEvent): HTMLAnchorElement | undefined {
  const { target, button, metaKey, ctrlKey, shiftKey, altKey, defaultPrevented } = event;
  if (defaultPrevented || button !== 0 || metaKey || ctrlKey || shiftKey || altKey) {
    return undefined;
  }
  const link = target instanceof Element ? target.closest('a[href^="/"]') : null;
  const isFollowed =
    link instanceof HTMLAnchorElement &&
    link.origin === location.origin &&
    !link.target &&
    !link.hasAttribute('download');
  return isFollowed ? link : undefined;
}
