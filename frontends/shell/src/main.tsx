import { BrowserRouter } from '@site/kit/router.ts';
import { StrictMode } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { keepAnchorsFromRouter } from './frame/anchors.ts';
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
keepAnchorsFromRouter();
// The development server does not render pages ahead of time.
if (root.hasChildNodes()) {
  hydrateRoot(root, site);
} else {
  createRoot(root).render(site);
}
