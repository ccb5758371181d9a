/** Content of a service's own page beyond the lists. */
export interface ServiceDetail {
  /** Alternative text of its scene. */
  sceneAlt: string;
  benefits: readonly string[];
  /** Long description. */
  paragraphs: readonly string[];
  features: readonly { title: string; description: string }[];
  /** The solutions that go with it, by their ids. */
  recommended: readonly string[];
  workflow: readonly { emoji: string; title: string; description: string }[];
}
