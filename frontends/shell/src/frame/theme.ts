import { useSyncExternalStore } from 'react';

/** Under this key the visitor's choice is kept; `theme-init.js` reads it before the first paint. */
const KEY = 'theme';

/** Colour theme of the page. */
export type Theme = 'light' | 'dark';

/** The page's theme, once the page is hydrated: only the browser knows it. */
export function useTheme(): Theme | undefined {
  return useSyncExternalStore(subscribe, shownTheme, () => undefined);
}

/** Changes the theme and keeps the choice. */
export function chooseTheme(theme: Theme): void {
  document.documentElement.classList.toggle('dark', theme === 'dark');
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Storage may be forbidden: the choice then holds for this page, also where the system changes.
    document.documentElement.dataset['theme'] = theme;
  }
}

/** The page's theme. */
export function shownTheme(): Theme {
  return document.documentElement.classList.contains('dark') ? 'dark' : 'light';
}

function subscribe(onChange: () => void) {
  const observer = new MutationObserver(onChange);
  observer.observe(document.documentElement, { attributeFilter: ['class'] });
  return () => observer.disconnect();
}
