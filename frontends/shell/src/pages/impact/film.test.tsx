// @vitest-environment happy-dom
import { act, render, screen } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { person } from '../../../../kit/testing/person.ts';
import { Film } from './film.tsx';

/** What comes of each attempt to play, once the test says so. */
let attempts: PromiseWithResolvers<void>[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  attempts = [];
  vi.spyOn(HTMLMediaElement.prototype, 'play').mockImplementation(() => {
    const attempt = Promise.withResolvers<void>();
    attempts.push(attempt);
    return attempt.promise;
  });
  vi.spyOn(HTMLMediaElement.prototype, 'pause').mockImplementation(function (
    this: HTMLMediaElement,
  ) {
    this.dispatchEvent(new Event('pause'));
    attempts.at(-1)?.reject(new DOMException('interrupted by pause()', 'AbortError'));
  });
  render(<Film />);
});

function film() {
  return screen.getByLabelText<HTMLVideoElement>('Promotional film');
}

function press(name: string) {
  return person().click(screen.getByRole('button', { name }));
}

function refuse(name: string) {
  return act(async () => attempts.at(-1)?.reject(new DOMException('refused', name)));
}

test('paused before it has begun to play, it is paused, and stays as loud as it was', async () => {
  await press('Play');
  await press('Pause');
  expect(attempts).toHaveLength(1);
  expect(film().muted).toBe(false);
  expect(film().controls).toBe(false);
  await press('Play');
  expect(attempts).toHaveLength(2);
  expect(screen.getByRole('button', { name: 'Pause' })).toBeTruthy();
});

test('where sound is refused it plays muted, with the browser’s own controls (section 4)', async () => {
  await press('Play');
  await refuse('NotAllowedError');
  expect(attempts).toHaveLength(2);
  expect(film().muted).toBe(true);
  expect(film().controls).toBe(true);
});

test('what cannot be played is said to be paused, and keeps its sound', async () => {
  await press('Play');
  await refuse('NotSupportedError');
  expect(attempts).toHaveLength(1);
  expect(film().muted).toBe(false);
  expect(screen.getByRole('button', { name: 'Play' })).toBeTruthy();
});
