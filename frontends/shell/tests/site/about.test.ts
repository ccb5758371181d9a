import { within } from '@testing-library/dom';
import { expect, test } from 'vitest';
import { attributesOf, builtPage, textContentsOf } from '../../../kit/testing/built-site.ts';

test('the page shows vision, journey and leadership (sections 2 and 9)', () => {
  const { page } = builtPage('/about');
  const region = (name: string) => within(page.getByRole('region', { name }));
  expect(region('Our Vision').getByRole('link').getAttribute('href')).toBe('/solutions');

  const journey = region('Our Journey');
  expect(textContentsOf(journey.getAllByRole('heading', { level: 3 }))).toEqual([
    'Founded',
    'Pre-incubation',
    'Leading innovation',
  ]);
  const years = journey.getAllByRole('listitem').map(item => item.querySelector('p:first-child'));
  expect(years.map(year => year?.textContent)).toEqual(['2024', '2024', 'Present']);

  journey.getByText(/a cloud and a GPU startup programme.* thousands of locations/);

  const people = region('Meet Our Leadership')
    .getAllByRole('listitem')
    .map(person => within(person));
  expect(people.flatMap(person => textContentsOf(person.getAllByRole('heading')))).toEqual([
    'Founder & CEO',
    'CTO',
    'Chief Business Officer',
    'Chief Operating Officer',
  ]);
  for (const person of people) {
    expect(person.getByRole('img').getAttribute('alt')).not.toBe('');
    expect(attributesOf(person.getAllByRole('link'), 'target')).toEqual(['_blank']);
  }
  const ask = page.getByRole('link', { name: 'Request a Consultation' });
  expect(ask.getAttribute('href')).toBe('/contact');
});
