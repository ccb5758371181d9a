import { hearEarlyPress } from '@site/kit/early-press.ts';
import { Tooltip } from '@site/kit/tooltip.tsx';
import { chooseTheme, shownTheme, useTheme } from './theme.ts';

export function ThemeSwitch() {
  const theme = useTheme();
  return (
    <Tooltip text="Dark theme">
      <button
        ref={hearEarlyPress}
        type="button"
        aria-label="Dark theme"
        aria-pressed={theme === 'dark'}
        onClick={() => chooseTheme(shownTheme() === 'dark' ? 'light' : 'dark')}
        className="inline-flex size-11 cursor-pointer items-center justify-center text-ink-2 hover:text-ink noscript:hidden"
      >
        <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" fill="none">
          <circle cx="12" cy="12" r="8.2" stroke="currentColor" strokeWidth="1.8" />
          <path d="M12 3.8a8.2 8.2 0 0 1 0 16.4z" fill="currentColor" />
        </svg>
      </button>
    </Tooltip>
  );
}
