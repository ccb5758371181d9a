/** What a service's own page tells beyond the lists. */
export interface ServiceDetail {
  /** What its scene shows, in words. */
  sceneAlt: string;
  benefits: readonly string[];
  /** What it is about, at length. */
  paragraphs: readonly string[];
  features: readonly { title: string; description: string }[];
  /** The solutions that go with it, by their ids. */
  recommended: readonly string[];
  workflow: readonly { emoji: string; title: string; description: string }[];
}
