export interface ServiceDetail {
  sceneAlt: string;
  benefits: readonly string[];
  /** Long description. */
  paragraphs: readonly string[];
  features: readonly { title: string; description: string }[];
  /** Solution ids. */
  recommended: readonly string[];
  workflow: readonly { emoji: string; title: string; description: string }[];
}
