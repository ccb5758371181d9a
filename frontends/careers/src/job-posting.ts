import { brand } from '@site/kit/brand.ts';
import * as paths from '@site/kit/paths.ts';
import type { Thing } from '@site/kit/structured-data.tsx';
import { companyAddress } from '@site/kit/structured-data.tsx';
import { validThrough } from './open-positions.ts';
import type { Position } from './positions.ts';
import { TERMS } from './positions.ts';

/**
 * https://schema.org/JobPosting, by the rules of
 * https://developers.google.com/search/docs/appearance/structured-data/job-posting: only on the position's
 * own page, with content that people see there.
 */
export function jobPosting(position: Position): Thing {
  const { slug, title, opened, requirements, benefits } = position;
  return {
    '@type': 'JobPosting',
    identifier: { '@type': 'PropertyValue', name: brand.name, value: slug },
    title,
    description: descriptionOf(position),
    qualifications: requirements.join('; '),
    jobBenefits: benefits.join('; '),
    datePosted: opened,
    validThrough: validThrough(position),
    employmentType: 'INTERN',
    directApply: true,
    url: brand.siteUrl + paths.position(slug),
    hiringOrganization: {
      '@type': 'Organization',
      name: brand.name,
      sameAs: brand.siteUrl,
      logo: `${brand.siteUrl}/icon-512.png`,
    },
    jobLocation: { '@type': 'Place', address: companyAddress() },
    jobLocationType: 'TELECOMMUTE',
    applicantLocationRequirements: { '@type': 'Country', name: brand.address.country },
  };
}

/** Google asks for the full description in HTML. */
function descriptionOf({ description, requirements, benefits }: Position): string {
  return `<p>${description}</p><p>${TERMS.sentence}</p>${listOf('What you bring', requirements)}${listOf('What you get', benefits)}`;
}

function listOf(title: string, points: readonly string[]): string {
  return `<p>${title}</p><ul>${points.map(point => `<li>${point}</li>`).join('')}</ul>`;
}
