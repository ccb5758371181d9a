// Starts the application once the page is painted: until then its scripts would only take bandwidth from what the visitor
// sees. Links and text work without them. Nothing is waited for longer, nor asked for more often, than the kit's `retry.ts`
// says, which cannot be imported here.
(() => {
  const SLOW = 8000;
  const WAITS = [1000, 2000, 4000, 0];

  new Promise(done => {
    // What is not parsed yet cannot be taken over; a picture that hangs can wait.
    addEventListener('DOMContentLoaded', () => setTimeout(done, SLOW));
    addEventListener('load', async () => {
      const first = Array.from(document.querySelectorAll('img[fetchpriority=high]'));
      await Promise.allSettled(first.map(picture => picture.decode()));
      requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50)));
    });
  }).then(() => {
    named('script').forEach(load);
    for (const href of named('later')) {
      add('link', { rel: 'preload', as: 'script', href });
    }
  });

  /** Of several tries the first to come counts, also one that was given up. */
  async function load(file) {
    const tries = [];
    let isThere = false;
    for (const wait of WAITS) {
      await new Promise(done => {
        setTimeout(done, SLOW);
        const script = {
          // Browsers ask for an address once at a time, so one that hung is asked for at another.
          src: tries.length ? `${file}?${tries.length}` : file,
          onerror: done,
          onload() {
            isThere = true;
            // Scripts do not run in another document than the one they were asked for in.
            for (const each of tries) {
              new Document().adoptNode(each);
            }
            done();
          },
        };
        tries.push(add('script', script));
      });
      await new Promise(done => setTimeout(done, wait));
      if (isThere) {
        return;
      }
    }
    const headers = { 'Content-Type': 'application/json' };
    const body = '{"remote":"shell","reason":"unreachable"}';
    fetch('/api/remote-failure', { method: 'POST', headers, body }).catch(() => undefined);
  }

  function add(name, properties) {
    const element = Object.assign(document.createElement(name), properties);
    document.head.append(element);
    return element;
  }

  function named(name) {
    return Array.from(document.querySelectorAll(`meta[name="${name}"]`), ({ content }) => content);
  }
})();
