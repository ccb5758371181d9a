// @vitest-environment happy-dom
import { act, render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { useCurrentSection } from './use-current-section.ts';

const HEADINGS = ['one', 'two', 'three'].map(id => ({ id, text: id }));
type Entry = Pick<IntersectionObserverEntry, 'isIntersecting' | 'target'>;

let callback: (entries: readonly Entry[]) => void = () => undefined;

class Observer {
  constructor(given: typeof callback) {
    callback = given;
  }
  observe = vi.fn();
  disconnect = vi.fn();
}

function Article() {
  return (
    <>
      <p role="status">{useCurrentSection(HEADINGS) ?? 'none'}</p>
      {HEADINGS.map(({ id }) => (
        <h2 key={id} id={id}>
          {id}
        </h2>
      ))}
    </>
  );
}

/** Moves these headings into the reading area, or out of it. */
function scroll(isIntersecting: boolean, ...ids: string[]) {
  act(() =>
    callback(ids.map(id => ({ isIntersecting, target: document.getElementById(id) as Element }))),
  );
}

test('the current section is the last one reached, both ways', () => {
  vi.stubGlobal('IntersectionObserver', Observer);
  render(<Article />);
  const current = () => screen.getByRole('status').textContent;
  scroll(false, 'one', 'two', 'three');
  expect(current()).toBe('none');
  scroll(true, 'one');
  expect(current()).toBe('one');
  // Scrolls past two sections at once.
  scroll(true, 'two', 'three');
  expect(current()).toBe('three');
  scroll(false, 'three');
  expect(current()).toBe('two');
  scroll(false, 'two', 'one');
  expect(current()).toBe('none');
});
