// A stylesheet that hangs holds back the whole page and its scripts, though what the page says is there: after this time
// it is read without. The bundler asks again for what a remote needs.
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
