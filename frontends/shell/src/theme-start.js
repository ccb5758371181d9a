// Runs before the first paint, so that no visitor sees the wrong theme for a moment; and whenever the system's changes.
(() => {
  const system = matchMedia('(prefers-color-scheme: dark)');

  function apply() {
    let chosen = null;
    try {
      chosen = localStorage.getItem('theme');
    } catch {
      // Storage may be forbidden; then the system decides.
    }
    const dark = chosen ? chosen === 'dark' : system.matches;
    document.documentElement.classList.toggle('dark', dark);
  }

  apply();
  system.addEventListener('change', apply);
})();
