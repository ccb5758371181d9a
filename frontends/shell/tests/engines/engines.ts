import { existsSync } from 'node:fs';
import type { Engine } from './engine.ts';
import { firefox } from './firefox.ts';
import { webkit } from './webkit.ts';

/** Engines besides Chromium, which the other browser tests use. */
export const ENGINES: readonly Engine[] = [firefox, webkit];

/** Fails before the first test, with the command that installs what is missing. */
export default function requirePrograms(): void {
  const all: Record<string, string> = Object.assign({}, ...ENGINES.map(({ programs }) => programs));
  const missing = Object.keys(all).filter(program => !existsSync(program));
  if (missing.length > 0) {
    const packages = Object.values(all).join(' ');
    throw new Error(
      `There is no ${missing.join(' and no ')}: install what the engines need with \`sudo apt-get install --no-install-recommends ${packages}\`.`,
    );
  }
}
