import type { IncomingMessage, ServerResponse } from 'node:http';
import { request as ask, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { randomClientIp } from '../../../kit/testing/random-client-ip.ts';

const REPORTS = '/reports-of-the-test';

/** Gives one visitor an origin and an IP address of their own. */
export interface RecordingProxy {
  site: string;
  /** Errors in the pages, and refused requests. */
  errors: string[];
  /** Answers requests to `path` without the site. */
  refuse: (path: string, status: number, sentence: string) => void;
  close: () => void;
}

/**
 * WebDriver does not expose console messages, and BiDi delivers them late. So the proxy prepends a few lines
 * to each script. These lines report errors at once.
 */
export async function recordingProxyTo(site: string): Promise<RecordingProxy> {
  const errors: string[] = [];
  const refused = new Map<string, { status: number; sentence: string }>();
  const from = randomClientIp();
  const server = createServer((question, answer) => {
    const refusal = refused.get(question.url ?? '');
    if (question.url === REPORTS) {
      report(question, answer, errors);
    } else if (refusal) {
      question.resume();
      answer.writeHead(refusal.status, { 'Content-Type': 'application/json' });
      answer.end(JSON.stringify({ success: false, error: refusal.sentence }));
    } else {
      forward(question, answer, site, from, errors);
    }
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    site: `http://localhost:${port}`,
    errors,
    refuse: (path, status, sentence) => refused.set(path, { status, sentence }),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function report(question: IncomingMessage, answer: ServerResponse, errors: string[]) {
  errors.push(Buffer.concat(await question.toArray()).toString());
  answer.writeHead(204).end();
}

function forward(
  question: IncomingMessage,
  answer: ServerResponse,
  site: string,
  from: string,
  errors: string[],
) {
  // Text cannot be prepended to a compressed script.
  const headers = { ...question.headers, 'accept-encoding': 'identity', 'x-forwarded-for': from };
  const there = ask(site + question.url, { method: question.method, headers }, async received => {
    const { statusCode: status = 502, headers: told } = received;
    if (status >= 400) {
      errors.push(`${status} ${question.url}`);
    }
    const prefix = status === 200 && told['content-type']?.includes('javascript') ? RECORDER : '';
    const length = Number(told['content-length']) + prefix.length;
    answer.writeHead(status, length >= 0 ? { ...told, 'content-length': length } : told);
    answer.write(prefix);
    await pipeline(received, answer).catch(() => answer.destroy());
  });
  // The visitor may close the connection at any time.
  there.on('error', () => answer.destroy());
  question.pipe(there);
}

/** Runs in the page. Reports are synchronous, so that a test never looks before they arrive. */
function record(reports: string) {
  if ('isRecorded' in window) {
    return;
  }
  Object.assign(window, { isRecorded: true });
  const say = (...words: unknown[]) => {
    const sent = new XMLHttpRequest();
    sent.open('POST', reports, false);
    sent.send(words.map(String).join(' '));
  };
  // A failed load has no message, and its event does not bubble.
  addEventListener('error', ({ message, target }) => say(message ?? `Not loaded: ${target}`), true);
  addEventListener('unhandledrejection', event => say('Nobody caught', event.reason));
  addEventListener('securitypolicyviolation', event =>
    say('Forbidden by', event.violatedDirective, event.blockedURI),
  );
  for (const level of ['error', 'warn'] as const) {
    const original = console[level];
    console[level] = (...words: unknown[]) => {
      original(...words);
      say(...words);
    };
  }
}

const RECORDER = `(${record})(${JSON.stringify(REPORTS)});`;
