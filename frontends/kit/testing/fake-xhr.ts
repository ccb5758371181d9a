import { act } from '@testing-library/react';
import { vi } from 'vitest';

type Listener = (() => void) | null;

/** Request that was sent, as far as the page uses XMLHttpRequest. The DOM of the tests knows no timeout of it. */
class FakeRequest {
  /** All that were sent since the test began, first to last. */
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

/** Fake of XMLHttpRequest in a unit test: takes what forms send, and answers when the test says so. */
export interface FakeXhr {
  sent: readonly FakeRequest[];
  last: () => FakeRequest;
  /** Answers the last request; a body that is no string is sent as JSON. */
  answer: (status: number, body: unknown) => Promise<void>;
  /** Breaks the connection of the last request. */
  breakOff: () => Promise<void>;
  /** Tells how much of the last request's body is sent. */
  receive: (loaded: number, total: number) => Promise<void>;
}

/** Stands in for XMLHttpRequest until the test is over. */
export function fakeXhr(): FakeXhr {
  vi.stubGlobal('XMLHttpRequest', FakeRequest);
  // Another thread computes digests of what is sent, in real time: here each content stands for itself.
  vi.spyOn(crypto.subtle, 'digest').mockImplementation(
    async (_, content) => content as ArrayBuffer,
  );
  for (const request of FakeRequest.sent) {
    // Of what another test left hanging nobody hears any more.
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

/** The idempotency keys of all that was sent. */
export function keysOf({ sent }: FakeXhr): (string | undefined)[] {
  return sent.map(({ headers }) => headers['Idempotency-Key']);
}
