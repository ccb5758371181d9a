import file from './positions.json' with { type: 'json' };

export interface Position {
  /** Only for legacy URLs. */
  id: number;
  /** Path segment below `/careers/`. */
  slug: string;
  title: string;
  department: string;
  /** As `2025-04-30`. */
  opened: string;
  /** Last day for applications. From the next day the page has status 410. */
  closes: string;
  description: string;
  requirements: readonly string[];
  benefits: readonly string[];
}

export const TERMS = {
  type: 'Internship',
  experience: 'Student / Fresher',
  location: 'Remote / Chennai',
  /** Search engines show a job as remote only if its description says so. */
  sentence:
    'A fully remote internship for students and freshers, from anywhere in India, or in Chennai, as you choose.',
} as const;

export function firstSentenceOf({ description }: Position): string {
  return description.slice(0, description.indexOf('. ') + 1);
}

/**
 * Includes closed positions. The URL of a position answers as long as `positions.json` contains it. The
 * notifier also takes the known titles from that file.
 */
export const positions: readonly Position[] = file;
