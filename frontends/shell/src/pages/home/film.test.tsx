// @vitest-environment happy-dom
import { act, render, screen } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { setupUser } from '../../../../kit/testing/setup-user.ts';
import { Film } from './film.tsx';

/** Attempts to play, which a test settles. */
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
  return setupUser().click(screen.getByRole('button', { name }));
}

function refuse(name: string) {
  return act(async () => attempts.at(-1)?.reject(new DOMException('refused', name)));
}

test('a pause before playback begins keeps the sound', async () => {
  await press('Play');
  await press('Pause');
  expect(attempts).toHaveLength(1);
  expect(film().muted).toBe(false);
  expect(film().controls).toBe(false);
  await press('Play');
  expect(attempts).toHaveLength(2);
  expect(screen.getByRole('button', { name: 'Pause' })).toBeTruthy();
});

test('blocked sound plays muted, with native controls (section 4)', async () => {
  await press('Play');
  await refuse('NotAllowedError');
  expect(attempts).toHaveLength(2);
  expect(film().muted).toBe(true);
  expect(film().controls).toBe(true);
});

test('a failed film shows an error and can be retried', async () => {
  const load = vi.spyOn(HTMLMediaElement.prototype, 'load').mockReturnValue();
  await press('Play');
  expect(screen.queryByRole('img')).toBeNull();
  await refuse('NotSupportedError');
  expect(screen.getByRole('alert').textContent).toContain('The film did not load');
  expect(screen.getByRole('img')).toBeTruthy();
  expect(attempts).toHaveLength(1);
  expect(film().muted).toBe(false);
  await press('Retry');
  expect(load).toHaveBeenCalledTimes(1);
  expect(attempts).toHaveLength(2);
  expect(screen.queryByRole('alert')).toBeNull();
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Pause' }));
});

test.each([
  ['without files', () => film().querySelector('source:last-of-type')],
  ['that stops', () => Object.defineProperty(film(), 'error', { value: { code: 2 } })],
])('a film %s shows an error without a rejected play()', async (_, lost) => {
  await press('Play');
  await act(async () => film().querySelector('source')?.dispatchEvent(new Event('error')));
  expect(screen.queryByRole('alert')).toBeNull();
  await act(async () => lost()?.dispatchEvent(new Event('error')));
  expect(screen.getByRole('alert').textContent).toContain('The film did not load');
});
