// Starts the application once the page is painted: until then its scripts would only take bandwidth
// from what the visitor sees. Links and text work without them.
addEventListener('load', async () => {
  const first = Array.from(document.querySelectorAll('img[fetchpriority=high]'));
  await Promise.allSettled(first.map(picture => picture.decode()));
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(start, 50)));
});

function start() {
  for (const source of named('script')) {
    document.head.append(Object.assign(document.createElement('script'), { src: source }));
  }
  for (const href of named('later')) {
    const link = { rel: 'preload', as: 'script', href };
    document.head.append(Object.assign(document.createElement('link'), link));
  }
}

function named(name) {
  return Array.from(document.querySelectorAll(`meta[name="${name}"]`), ({ content }) => content);
}
