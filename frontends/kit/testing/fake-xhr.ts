import { act } from '@testing-library/react';
import { vi } from 'vitest';

type Listener = (() => void) | null;

/** The part of XMLHttpRequest that pages use, with timeouts, which happy-dom lacks. */
class FakeRequest {
  /** Requests of the current test, in order. */
  static sent: FakeRequest[] = [];
  method = '';
  path = '';
  headers: Record<string, string> = {};
  body: unknown;
  timeout = 0;
  status = 0;
  responseText = '';
  upload: { onprogress: ((event: { loaded: number; total: number }) => void) | null } = {
    onprogress: null,
  };
  onload: Listener = null;
  onerror: Listener = null;
  ontimeout: Listener = null;
  onabort: Listener = null;
  onloadend: Listener = null;
  private isOver = false;
  private deadline: ReturnType<typeof setTimeout> | undefined;

  open(method: string, path: string) {
    this.method = method;
    this.path = path;
  }

  setRequestHeader(name: string, value: string) {
    this.headers[name] = value;
  }

  send(body: unknown) {
    this.body = body;
    FakeRequest.sent.push(this);
    if (this.timeout > 0) {
      this.deadline = setTimeout(() => this.end(this.ontimeout), this.timeout);
    }
  }

  abort() {
    this.end(this.onabort);
  }

  end(listener: Listener) {
    clearTimeout(this.deadline);
    if (!this.isOver) {
      this.isOver = true;
      listener?.();
      this.onloadend?.();
    }
  }
}

export interface FakeXhr {
  sent: readonly FakeRequest[];
  last: () => FakeRequest;
  /** Answers the last request. A body that is not a string is sent as JSON. */
  answer: (status: number, body: unknown) => Promise<void>;
  breakOff: () => Promise<void>;
  receive: (loaded: number, total: number) => Promise<void>;
}

/** Replaces XMLHttpRequest until the test ends. */
export function fakeXhr(): FakeXhr {
  vi.stubGlobal('XMLHttpRequest', FakeRequest);
  // Another thread computes digests in real time, so here each content is its own digest.
  vi.spyOn(crypto.subtle, 'digest').mockImplementation(
    async (_, content) => content as ArrayBuffer,
  );
  for (const request of FakeRequest.sent) {
    // Lets open requests of an earlier test remove their listeners.
    request.onloadend?.();
  }
  FakeRequest.sent = [];
  const { sent } = FakeRequest;
  function last() {
    const request = sent.at(-1);
    if (!request) {
      throw new Error('Nothing was sent');
    }
    return request;
  }
  return {
    sent,
    last,
    answer(status, body) {
      const request = last();
      request.status = status;
      request.responseText = typeof body === 'string' ? body : JSON.stringify(body);
      return act(async () => request.end(request.onload));
    },
    breakOff: () => act(async () => last().end(last().onerror)),
    receive: (loaded, total) => act(async () => last().upload.onprogress?.({ loaded, total })),
  };
}

export function keysOf({ sent }: FakeXhr): (string | undefined)[] {
  return sent.map(({ headers }) => headers['Idempotency-Key']);
}
