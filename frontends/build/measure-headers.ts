import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { request } from 'node:http';
import type { Server } from 'node:https';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setDefaultCACertificates } from 'node:tls';
import { pathToFileURL } from 'node:url';
import { root } from './file-paths.ts';
import { runningStack } from './running-stack.ts';
import { ACCEPTED, SAMPLE_PATHS } from './sample-paths.ts';

// What MDN's HTTP Observatory says of the headers of each kind of page: `cargo xtask measure headers`.
//
// It asks a host for its first page over TLS, as browsers of the site do. So a proxy of our own stands before the running
// stack, and gives it each page as the first one.

/** Score of a page below which the measurement fails. */
const LEAST_SCORE = 125;
/** Where `cargo xtask` has put the package; `tools/pins/observatory` locks it. */
const observatory = join(root, 'target/tools/observatory/node_modules/@mdn/mdn-http-observatory');

/** What of the package is used. */
interface Observatory {
  scan: (host: string) => Promise<{
    scan: { grade: string; score: number };
    tests: Record<string, { pass: boolean; result: string }>;
  }>;
}

/** A key, and a certificate that is trusted by this program. */
interface Identity {
  key: string;
  cert: string;
}

// The sites that browsers are shipped with as HTTPS alone: one that runs here is none of them.
writeFileSync(join(observatory, 'conf/hsts-preload.json'), '{}');
const { scan }: Observatory = await import(pathToFileURL(join(observatory, 'src/index.js')).href);
const identity = identityOf('localhost');
setDefaultCACertificates([identity.cert]);
const { site } = runningStack();
// It reads pages by jsdom, which does not know all of today's CSS, and says so with the whole stylesheet.
console.error = () => undefined;
const rows: { page: string; score: number; grade: string; failed: string }[] = [];
for (const path of [...SAMPLE_PATHS, ...ACCEPTED]) {
  const server = await pageOverTls(path, identity);
  const { port } = server.address() as AddressInfo;
  const { scan: told, tests } = await scan(`localhost:${port}`);
  server.close();
  const failed = Object.values(tests).flatMap(({ pass, result }) => (pass ? [] : [result]));
  rows.push({ page: path, score: told.score, grade: told.grade, failed: failed.join(', ') });
}
console.table(rows);
process.exit(rows.some(({ score }) => score < LEAST_SCORE) ? 1 : 0);

function identityOf(host: string): Identity {
  const folder = mkdtempSync(join(tmpdir(), 'headers-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'];
  const name = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
  execFileSync('openssl', ['req', '-x509', ...kind, ...name, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  const identity = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(folder, { recursive: true });
  return identity;
}

/** A server that has this page of the site at its root, and the rest of the site where it is. */
async function pageOverTls(page: string, identity: Identity): Promise<Server> {
  const server = createServer(identity, (asked: IncomingMessage, answer: ServerResponse) => {
    const address = new URL(asked.url === '/' ? page : (asked.url ?? '/'), site);
    const { method, headers } = asked;
    const forwarded = request(address, { method, headers }, answered => {
      answer.writeHead(answered.statusCode ?? 502, answered.headers);
      answered.pipe(answer);
    });
    forwarded.on('error', () => answer.destroy());
    asked.pipe(forwarded);
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, 'localhost', resolve);
  await promise;
  return server;
}
