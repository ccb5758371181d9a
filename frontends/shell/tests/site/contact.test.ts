import { within } from '@testing-library/dom';
import { expect, test } from 'vitest';
import { builtPage, textContentsOf } from '../../../kit/testing/built-site.ts';

test('the page answers five questions (sections 1, 2 and 9)', () => {
  const { document, main } = builtPage('/contact');
  expect(textContentsOf(document.querySelectorAll('main details[name] summary'))).toEqual([
    'What solutions do you offer?',
    'Does it work with the cameras and systems we have?',
    'Cloud or on-premise?',
    'Can it be customised for our industry?',
    'What are the technical requirements?',
  ]);
  main.getByText(/with a cloud provider, or on edge devices/);
  main.getByText(/IP cameras, or analog CCTV .* stable network; and power where an edge device/);
  expect(within(document.body).getAllByRole('link', { name: /Get Directions/ })).toHaveLength(1);
});
