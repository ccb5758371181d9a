import { useSyncExternalStore } from 'react';

/** `theme-init.js` reads this key before the first paint. */
const KEY = 'theme';

export type Theme = 'light' | 'dark';

/** Undefined before hydration, because only the browser knows the theme. */
export function useTheme(): Theme | undefined {
  return useSyncExternalStore(subscribe, shownTheme, () => undefined);
}

export function chooseTheme(theme: Theme): void {
  document.documentElement.classList.toggle('dark', theme === 'dark');
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Without storage the choice holds for this page, despite system changes.
    document.documentElement.dataset['theme'] = theme;
  }
}

export function shownTheme(): Theme {
  return document.documentElement.classList.contains('dark') ? 'dark' : 'light';
}

function subscribe(onChange: () => void) {
  const observer = new MutationObserver(onChange);
  observer.observe(document.documentElement, { attributeFilter: ['class'] });
  return () => observer.disconnect();
}
