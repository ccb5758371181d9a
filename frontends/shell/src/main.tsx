import { StrictMode, startTransition } from 'react';
import { keepEarlyInput } from './early-input.ts';
import { leaveHashLinksToBrowser } from './frame/hash-links.ts';
import { watchPageChanges } from './frame/page-change.ts';
import './styles.css';

// The application starts in steps, each a task of its own: what a visitor does meanwhile waits for one of them at most.
// An eager import brings no file: the module is in this one, and is evaluated when it is asked for. By itself, because
// whoever watches the page (the browser's tools, Lighthouse) has every function parsed anew that runs when React makes
// its errors, and that would be the whole file.

const root = document.getElementById('root');
if (!root) {
  throw new Error('The page has no element with the id "root"');
}
start(root);

async function start(root: HTMLElement) {
  await nextTask();
  const { createRoot, hydrateRoot } = await import(/* webpackMode: "eager" */ 'react-dom/client');
  await nextTask();
  const { BrowserRouter } = await import(/* webpackMode: "eager" */ '@site/kit/router.ts');
  await nextTask();
  const { App } = await import(/* webpackMode: "eager" */ './app.tsx');
  await nextTask();
  leaveHashLinksToBrowser();
  watchPageChanges();
  const site = (
    <StrictMode>
      <BrowserRouter>
        <App />
      </BrowserRouter>
    </StrictMode>
  );
  // The development server does not prerender pages.
  if (root.hasChildNodes()) {
    keepEarlyInput(root);
    // As a transition React hydrates the page in slices of 5 ms, so that a visitor's input is not kept waiting.
    startTransition(() => {
      hydrateRoot(root, site);
    });
  } else {
    createRoot(root).render(site);
  }
}

function nextTask(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve));
}
