// A stylesheet that hangs holds back the whole page and its scripts, though what the page says is there: after eight
// seconds it is read without. The bundler asks anew for what a remote needs.
setTimeout(() => {
  for (const link of document.querySelectorAll('link[rel=stylesheet]')) {
    if (!link.sheet) {
      link.remove();
    }
  }
}, 8000);
