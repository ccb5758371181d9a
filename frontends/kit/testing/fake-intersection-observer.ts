import { act } from '@testing-library/react';
import { vi } from 'vitest';

/** Entry of an observer's callback: its element came into the viewport, unless a test says where it is. */
type EntryInit = Partial<IntersectionObserverEntry>;
type ObserverCallback = (entries: EntryInit[], observer: FakeObserver) => void;

/** Observed elements with their observers. The tests' DOM has no layout: nothing comes into the viewport by itself. */
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

/** Viewport of a unit test: elements come into it when the test says so. */
interface FakeIntersectionObserver {
  /** Brings all that is waited for into view, or to a place. Says with which options it was waited for. */
  show: (init?: EntryInit) => Promise<IntersectionObserverInit[]>;
  /** Elements that are still observed. */
  awaited: () => Element[];
}

/** Stands in for the browser's IntersectionObserver until the test is over. */
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
