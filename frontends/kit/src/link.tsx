import type { ComponentProps, ReactNode } from 'react';
import { useEffect } from 'react';
import { BrowserRouter as Router, useLocation, useNavigate } from 'react-router-dom';

interface LinkProps extends Omit<ComponentProps<'a'>, 'href'> {
  /** A path of this site, or a place in this page; without one it leads nowhere yet. */
  to: string | undefined;
}

/**
 * A link is an anchor and nothing else: `BrowserRouter` follows it. The router's own asks for eight contexts and hooks, which a
 * phone would run some fifty times for the first view of a page.
 */
export function Link({ to, ...rest }: LinkProps) {
  return <a {...rest} href={to} />;
}

/** Link that says so where it leads to the page that is shown; without `end`, or to one below its path. */
export function NavLink({ end = false, ...rest }: LinkProps & { end?: boolean }) {
  const { pathname } = useLocation();
  const isCurrent = pathname === rest.to || (!end && pathname.startsWith(`${rest.to}/`));
  return <Link {...rest} aria-current={isCurrent ? 'page' : undefined} />;
}

/** The router, with one listener for all links: those that React does not know, in an article's text, change the page, too. */
export function BrowserRouter({ children }: { children: ReactNode }) {
  return (
    <Router>
      <LinkNavigation>{children}</LinkNavigation>
    </Router>
  );
}

/** Around the site, not beside it: that would change what `useId` says, and the page's HTML is rendered without. */
function LinkNavigation({ children }: { children: ReactNode }) {
  const navigate = useNavigate();
  useEffect(() => {
    function follow(event: MouseEvent) {
      const link = linkOf(event);
      if (link) {
        event.preventDefault();
        // As browsers do: a link to the address that is shown adds no entry to the history.
        navigate(link.pathname + link.search + link.hash, { replace: link.href === location.href });
      }
    }
    document.addEventListener('click', follow);
    return () => document.removeEventListener('click', follow);
  }, [navigate]);
  return children;
}

/** The link to a page of this site that a click follows in this tab, unless somebody has made something else of the click. */
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
