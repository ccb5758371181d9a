import file from './positions.json' with { type: 'json' };

/** An internship. */
export interface Position {
  /** From 1 on. */
  id: number;
  /** Its address below `/careers/`. */
  slug: string;
  title: string;
  department: string;
  /** The day on which it was opened, as `2025-04-30`. */
  opened: string;
  /** The last day on which applications are taken: from the next one on its page says that it is closed, with status 410. */
  closes: string;
  description: string;
  requirements: readonly string[];
  benefits: readonly string[];
}

/** Terms of every position. */
export const TERMS = {
  type: 'Internship',
  experience: 'Student / Fresher',
  location: 'Remote / Chennai',
  /** All three in a sentence: what search engines show as remote has to say so in its description. */
  sentence:
    'A fully remote internship for students and freshers, from anywhere in India, or in Chennai, as you choose.',
} as const;

/** What a position is about, in a sentence. */
export function firstSentenceOf({ description }: Position): string {
  return description.slice(0, description.indexOf('. ') + 1);
}

/**
 * All internships, the closed ones too: an address that was given out answers as long as it stands here. The notifier knows
 * by the same file which titles are ours.
 */
export const positions: readonly Position[] = file;
