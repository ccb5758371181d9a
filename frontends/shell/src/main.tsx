import { BrowserRouter } from '@site/kit/router.ts';
import { StrictMode, startTransition } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { leaveHashLinksToBrowser } from './frame/hash-links.ts';
import './styles.css';

const site = (
  <StrictMode>
    <BrowserRouter>
      <App />
    </BrowserRouter>
  </StrictMode>
);
const root = document.getElementById('root');
if (!root) {
  throw new Error('The page has no element with the id "root"');
}
leaveHashLinksToBrowser();
// The development server does not prerender pages.
if (root.hasChildNodes()) {
  // As a transition React hydrates the page in slices of 5 ms, so that a visitor's input is not kept waiting.
  startTransition(() => {
    hydrateRoot(root, site);
  });
} else {
  createRoot(root).render(site);
}
