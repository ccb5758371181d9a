import './standalone.css';
import { BrowserRouter, Link, Route, Routes } from '@site/kit/router.ts';
import type { ComponentType } from 'react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { brand } from './brand.ts';
import { ToastRegion } from './toast-region.tsx';

export interface Standalone {
  name: string;
  /** Exposed pages, by route pattern. */
  pages: Readonly<Record<string, ComponentType>>;
}

/** Shows a remote without the shell, for its development server and tests. */
export function mountStandalone(remote: Standalone): void {
  const root = document.getElementById('root');
  if (!root) {
    throw new Error('The page has no element with the id "root"');
  }
  createRoot(root).render(
    <StrictMode>
      <BrowserRouter>
        <Frame {...remote} />
      </BrowserRouter>
    </StrictMode>,
  );
}

function Frame({ name, pages }: Standalone) {
  const addresses = Object.keys(pages).filter(path => !/[*:]/.test(path));
  return (
    <>
      <header className="flex flex-wrap items-center gap-x-6 border-line border-b px-5 text-small">
        <p className="grow">
          {brand.name}: {name}, alone
        </p>
        <nav aria-label="Main" className="flex gap-6">
          {addresses.map(path => (
            <Link key={path} to={path} className="flex min-h-11 items-center underline">
              {path}
            </Link>
          ))}
        </nav>
        <button
          type="button"
          className="min-h-11 cursor-pointer"
          onClick={() => document.documentElement.classList.toggle('dark')}
        >
          Dark theme
        </button>
      </header>
      <main data-area={name}>
        <Routes>
          {Object.entries(pages).map(([path, Page]) => (
            <Route key={path} path={path} element={<Page />} />
          ))}
        </Routes>
      </main>
      <ToastRegion />
    </>
  );
}
