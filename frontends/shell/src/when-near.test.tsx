// @vitest-environment happy-dom
import { render, screen } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { pass } from '../../kit/testing/fake-time.ts';
import { fakeView } from '../../kit/testing/fake-view.ts';
import { latePart, WhenNear } from './when-near.tsx';

const Part = () => <p>Our partners</p>;

beforeEach(() => {
  vi.useFakeTimers();
});

test('a part is fetched when it comes within 200 pixels of the view, and shown', async () => {
  const view = fakeView();
  const load = vi.fn(async () => ({ default: Part }));
  render(<WhenNear part={latePart(load)} />);
  await pass(60_000);
  expect(load).not.toHaveBeenCalled();
  expect(await view.show()).toEqual([{ rootMargin: '200px' }]);
  await pass(0);
  expect(screen.getByText('Our partners')).toBeTruthy();
  expect(view.awaited()).toEqual([]);
});

test('a part that does not come is asked for again', async () => {
  const view = fakeView();
  const load = vi
    .fn()
    .mockRejectedValueOnce(new Error('lost'))
    .mockResolvedValue({ default: Part });
  render(<WhenNear part={latePart(load)} />);
  await view.show();
  await pass(999);
  expect(screen.queryByText('Our partners')).toBeNull();
  await pass(1);
  expect(screen.getByText('Our partners')).toBeTruthy();
  expect(load).toHaveBeenCalledTimes(2);
});

test('what is no longer on the page is no longer waited for', () => {
  const view = fakeView();
  const { unmount } = render(<WhenNear part={latePart(async () => ({ default: Part }))} />);
  expect(view.awaited()).toHaveLength(1);
  unmount();
  expect(view.awaited()).toEqual([]);
});
