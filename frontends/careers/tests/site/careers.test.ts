import { within } from '@testing-library/dom';
import { expect, test } from 'vitest';
import { builtPage, textContentsOf } from '../../../kit/testing/built-site.ts';

const { document, page } = builtPage('/careers');
const region = (name: string) => within(page.getByRole('region', { name }));

test('ten internships, each with what it asks and gives (sections 2, 3 and 9)', () => {
  const list = page.getByRole('region', { name: 'Open Positions' });
  expect(textContentsOf(within(list).getAllByRole('heading', { level: 3 }))).toEqual([
    'Marketing Intern',
    'Video Editing Intern',
    'Computer Vision Intern',
    'Data Annotation/Analytics Intern',
    'Business Development Intern',
    'AI Intern',
    'Backend Intern',
    'Frontend Intern',
    'Full Stack Intern',
    'Cloud Engineering Intern',
  ]);
  const positions = list.querySelectorAll('details');
  expect(positions).toHaveLength(10);
  expect(positions[0]?.textContent).toContain('Internship · Remote / Chennai');
  expect(positions[0]?.textContent).toContain('Student / Fresher');
});

test('three reasons and eight perks (sections 2 and 9)', () => {
  expect(region('Why Work With Us').getAllByRole('listitem')).toHaveLength(3);
  expect(region('Benefits and Perks').getAllByRole('listitem')).toHaveLength(8);
});

test('search engines are told of every position', () => {
  const data = textContentsOf(document.querySelectorAll('script[type="application/ld+json"]'));
  const jobs = data.map(text => JSON.parse(text)).filter(thing => thing['@type'] === 'JobPosting');
  expect(jobs).toHaveLength(10);
  for (const job of jobs) {
    expect(job).toMatchObject({
      title: expect.stringMatching(/Intern/),
      description: expect.stringMatching(/./),
      datePosted: expect.stringMatching(/./),
      hiringOrganization: expect.anything(),
      jobLocation: expect.anything(),
    });
  }
});
