// A hanging stylesheet blocks rendering and scripts, although the HTML has arrived. After the timeout, the page shows
// without the stylesheet. The bundler requests a remote's stylesheet again.
{
  const LOAD_TIMEOUT_MS = 8000;
  setTimeout(() => {
    for (const link of document.querySelectorAll('link[rel=stylesheet]')) {
      if (!link.sheet) {
        link.remove();
      }
    }
  }, LOAD_TIMEOUT_MS);
}
