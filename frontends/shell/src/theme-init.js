// Sets the theme before the first paint, so that the wrong one never flashes, and on each change of the system's theme.
(() => {
  const page = document.documentElement;
  const system = matchMedia('(prefers-color-scheme: dark)');

  function apply() {
    // If storage is forbidden, `data-theme` holds the visitor's choice (`frame/theme.ts`).
    let chosen = page.dataset.theme;
    try {
      chosen ??= localStorage.getItem('theme');
    } catch {
      // Storage is forbidden and nothing is chosen, so the system's theme applies.
    }
    const dark = chosen ? chosen === 'dark' : system.matches;
    page.classList.toggle('dark', dark);
  }

  apply();
  system.addEventListener('change', apply);
})();
