// Runs before the first paint, so that no visitor sees the wrong theme for a moment; and whenever the system's changes.
(() => {
  const page = document.documentElement;
  const system = matchMedia('(prefers-color-scheme: dark)');

  function apply() {
    // Where storage is forbidden the page itself keeps the choice.
    let chosen = page.dataset.theme;
    try {
      chosen ??= localStorage.getItem('theme');
    } catch {
      // Nothing is chosen yet: the system decides.
    }
    const dark = chosen ? chosen === 'dark' : system.matches;
    page.classList.toggle('dark', dark);
  }

  apply();
  system.addEventListener('change', apply);
})();
