import { act } from '@testing-library/react';
import { vi } from 'vitest';

type EntryInit = Partial<IntersectionObserverEntry>;
type ObserverCallback = (entries: EntryInit[], observer: FakeObserver) => void;

/** Observed elements with their observers. happy-dom has no layout, so tests bring elements into view. */
const observed = new Map<Element, FakeObserver>();

class FakeObserver {
  readonly callback: ObserverCallback;
  readonly options: IntersectionObserverInit;

  constructor(callback: ObserverCallback, options: IntersectionObserverInit = {}) {
    this.callback = callback;
    this.options = options;
  }

  observe(element: Element) {
    observed.set(element, this);
  }

  unobserve(element: Element) {
    observed.delete(element);
  }

  disconnect() {
    for (const [element, observer] of observed) {
      if (observer === this) {
        observed.delete(element);
      }
    }
  }
}

interface FakeIntersectionObserver {
  /** Brings all observed elements into view, or to a position. Returns the options of their observers. */
  show: (init?: EntryInit) => Promise<IntersectionObserverInit[]>;
  awaited: () => Element[];
}

/** Replaces IntersectionObserver until the test ends. */
export function fakeIntersectionObserver(): FakeIntersectionObserver {
  observed.clear();
  vi.stubGlobal('IntersectionObserver', FakeObserver);
  return {
    async show(init = { isIntersecting: true }) {
      const all = Array.from(observed);
      await act(async () => {
        for (const [target, observer] of all) {
          const boundingClientRect = target.getBoundingClientRect();
          observer.callback([{ boundingClientRect, ...init, target }], observer);
        }
      });
      return all.map(([, { options }]) => options);
    },
    awaited: () => Array.from(observed.keys()),
  };
}
