import { Notices } from '@site/kit/notices.tsx';
import { Route, Routes } from '@site/kit/router.ts';
import { Suspense, ViewTransition } from 'react';
import { ErrorScreen } from './frame/error-screen.tsx';
import { Footer } from './frame/footer.tsx';
import { Header } from './frame/header.tsx';
import { NewsletterLink } from './frame/newsletter-link.tsx';
import { ScrollToTop } from './frame/scroll-to-top.tsx';
import { usePrefetch } from './prefetch.ts';
import { routes } from './routes.tsx';

/** The whole site. */
export function App() {
  usePrefetch();
  return (
    <div data-site="" className="flex min-h-dvh flex-col">
      <a href="#main" className="skip-link">
        Skip to content
      </a>
      <Header />
      <main id="main" tabIndex={-1} className="grow pt-header outline-none">
        <ErrorScreen>
          <ViewTransition>
            <Suspense>
              <Routes>
                {routes.map(({ path, Page }) => (
                  <Route key={path} path={path} element={<Page />} />
                ))}
              </Routes>
            </Suspense>
          </ViewTransition>
        </ErrorScreen>
      </main>
      <Footer />
      <ScrollToTop />
      <NewsletterLink />
      <Notices />
    </div>
  );
}
