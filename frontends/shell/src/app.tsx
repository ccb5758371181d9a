import { Route, Routes, useLocation } from '@site/kit/router.ts';
import { ToastRegion } from '@site/kit/toast-region.tsx';
import type { ReactNode } from 'react';
import { Suspense, useRef, ViewTransition } from 'react';
import { Footer } from './frame/footer.tsx';
import { Header } from './frame/header.tsx';
import { NewsletterDialog } from './frame/newsletter-dialog.tsx';
import { usePageChange } from './frame/page-change.ts';
import { PageErrorBoundary } from './frame/page-error-boundary.tsx';
import { RouteAnnouncer } from './frame/route-announcer.tsx';
import { ScrollToTop } from './frame/scroll-to-top.tsx';
import { usePrefetch } from './prefetch.ts';
import { pageKeyOf, routeAt } from './routes.tsx';

export function App() {
  const { pathname } = useLocation();
  const { route, pattern } = routeAt(pathname);
  const page = pageKeyOf(route, pathname);
  const main = useRef<HTMLElement>(null);
  usePageChange(pathname, main);
  usePrefetch();
  return (
    <div data-site="" className="flex min-h-dvh flex-col">
      <a href="#main" className="skip-link">
        Skip to content
      </a>
      <Header page={page} />
      <main ref={main} id="main" tabIndex={-1} className="grow pt-header outline-none">
        <PageErrorBoundary>
          <Suspense>
            <PageTransition key={page}>
              {/* Only for `useParams`. With all routes here, the router would match them again. */}
              <Routes>
                <Route path={pattern} element={route.element} />
              </Routes>
            </PageTransition>
          </Suspense>
        </PageErrorBoundary>
      </main>
      <Footer />
      <ScrollToTop />
      <RouteAnnouncer page={page} />
      <NewsletterDialog />
      <ToastRegion />
    </div>
  );
}

/**
 * Animates page changes. In prerendered pages, `ViewTransition` makes React move pictures to the end of the
 * HTML and restore them by inline scripts, which our Content Security Policy forbids.
 */
function PageTransition({ children }: { children: ReactNode }) {
  return typeof window === 'undefined' ? (
    children
  ) : (
    <ViewTransition update="none">{children}</ViewTransition>
  );
}
