import { StrictMode, startTransition } from 'react';
import { keepEarlyInput } from './early-input.ts';
import { leaveHashLinksToBrowser } from './frame/hash-links.ts';
import { watchPageChanges } from './frame/page-change.ts';
import './styles.css';

// The application starts in separate tasks, so that visitor input waits for one of them at most. An eager
// import adds no file; the module is evaluated on import. Under DevTools or Lighthouse, each error that React
// creates makes the browser parse every function on the call stack again. If one function evaluated all
// modules, the browser would parse the whole file.

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
    // In a transition React hydrates in slices of 5 ms.
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
