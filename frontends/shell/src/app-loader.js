// App loader: loads the application's scripts after first paint, with timeout and retries. An earlier load would take
// bandwidth from visible content. Links and text work without them. Timeout and retries equal those of the kit's
// `retry.ts`, which an inline script cannot import.
{
  const LOAD_TIMEOUT_MS = 8000;
  const RETRY_DELAYS_MS = [1000, 2000, 4000, 0];

  const afterFirstPaint = () =>
    new Promise(done => {
      // Hydration needs the parsed HTML. A timeout ends the wait for pictures, because one may hang.
      addEventListener('DOMContentLoaded', () => setTimeout(done, LOAD_TIMEOUT_MS));
      addEventListener('load', async () => {
        const first = Array.from(document.querySelectorAll('img[fetchpriority=high]'));
        await Promise.allSettled(first.map(picture => picture.decode()));
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50)));
      });
    });

  /** The first attempt that loads counts, even after its timeout. */
  const load = async file => {
    const attempts = [];
    let isThere = false;
    for (const delay of RETRY_DELAYS_MS) {
      await new Promise(done => {
        setTimeout(done, LOAD_TIMEOUT_MS);
        const script = {
          // Each attempt has its own URL, because browsers join requests for the same URL, even a hanging one.
          src: attempts.length ? `${file}?${attempts.length}` : file,
          onerror: done,
          onload() {
            isThere = true;
            // A script that has moved to another document does not run, so late attempts have no effect.
            for (const each of attempts) {
              new Document().adoptNode(each);
            }
            done();
          },
        };
        attempts.push(add('script', script));
      });
      await new Promise(done => setTimeout(done, delay));
      if (isThere) {
        return;
      }
    }
    const headers = { 'Content-Type': 'application/json' };
    const body = '{"remote":"shell","reason":"unreachable"}';
    fetch('/api/remote-failure', { method: 'POST', headers, body }).catch(() => undefined);
  };

  const add = (name, properties) => {
    const element = Object.assign(document.createElement(name), properties);
    document.head.append(element);
    return element;
  };

  const named = name =>
    Array.from(document.querySelectorAll(`meta[name="${name}"]`), ({ content }) => content);

  afterFirstPaint().then(() => {
    named('app-script').forEach(load);
    for (const href of named('deferred-preload')) {
      add('link', { rel: 'preload', as: 'script', href });
    }
  });
}
