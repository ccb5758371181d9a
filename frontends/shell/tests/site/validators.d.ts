/** The package has no types. */
declare module '@marbec/web-auto-extractor' {
  export interface Extracted {
    jsonld: Record<string, unknown[]>;
  }
  export default class WebAutoExtractor {
    constructor(options: { addLocation: boolean });
    parse(html: string): Extracted;
  }
}

/** The package has no types. */
declare module '@adobe/structured-data-validator' {
  import type { Extracted } from '@marbec/web-auto-extractor';
  export default class Validator {
    validate(data: Extracted): Promise<{ issueMessage: string; severity: string }[]>;
  }
}
