// App loader: loads the application's scripts after first paint, with timeout and retries. Until then they would only take
// bandwidth from what the visitor sees; links and text work without them. Timeout and retries are those of the kit's
// `retry.ts`, which cannot be imported here.
{
  const LOAD_TIMEOUT_MS = 8000;
  const RETRY_DELAYS_MS = [1000, 2000, 4000, 0];

  const afterFirstPaint = () =>
    new Promise(done => {
      // What is not parsed yet cannot be hydrated; a picture that hangs can wait.
      addEventListener('DOMContentLoaded', () => setTimeout(done, LOAD_TIMEOUT_MS));
      addEventListener('load', async () => {
        const first = Array.from(document.querySelectorAll('img[fetchpriority=high]'));
        await Promise.allSettled(first.map(picture => picture.decode()));
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50)));
      });
    });

  /** Of several attempts the first to come counts, also one that had timed out. */
  const load = async file => {
    const attempts = [];
    let isThere = false;
    for (const delay of RETRY_DELAYS_MS) {
      await new Promise(done => {
        setTimeout(done, LOAD_TIMEOUT_MS);
        const script = {
          // Browsers join requests for one URL, so one that hung is asked for at another.
          src: attempts.length ? `${file}?${attempts.length}` : file,
          onerror: done,
          onload() {
            isThere = true;
            // Scripts do not run in another document than the one they were asked for in.
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
