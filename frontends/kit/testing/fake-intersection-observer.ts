import { act } from '@testing-library/react';
import { vi } from 'vitest';

/** What an observer is told of an element: that it came into the viewport, unless a test says where it is. */
type Told = Partial<IntersectionObserverEntry>;
type Tell = (entries: Told[], observer: FakeObserver) => void;

/** What is observed, by whom. The DOM of the tests has no layout, so nothing ever comes into the viewport by itself. */
const observed = new Map<Element, FakeObserver>();

class FakeObserver {
  readonly tell: Tell;
  readonly options: IntersectionObserverInit;

  constructor(tell: Tell, options: IntersectionObserverInit = {}) {
    this.tell = tell;
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
export interface FakeIntersectionObserver {
  /** Brings all that is waited for into view, or to a place. Says with which options it was waited for. */
  show: (told?: Told) => Promise<IntersectionObserverInit[]>;
  /** What is still waited for. */
  awaited: () => Element[];
}

/** Stands in for the browser's IntersectionObserver until the test is over. */
export function fakeIntersectionObserver(): FakeIntersectionObserver {
  observed.clear();
  vi.stubGlobal('IntersectionObserver', FakeObserver);
  return {
    async show(told = { isIntersecting: true }) {
      const all = Array.from(observed);
      await act(async () => {
        for (const [target, observer] of all) {
          const boundingClientRect = target.getBoundingClientRect();
          observer.tell([{ boundingClientRect, ...told, target }], observer);
        }
      });
      return all.map(([, { options }]) => options);
    },
    awaited: () => Array.from(observed.keys()),
  };
}
