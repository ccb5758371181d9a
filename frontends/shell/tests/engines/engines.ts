import { existsSync } from 'node:fs';
import type { Engine } from './engine.ts';
import { firefox } from './firefox.ts';
import { webkit } from './webkit.ts';

/** The engines that the site is tried in, besides Chromium's. */
export const ENGINES: readonly Engine[] = [firefox, webkit];

/** Stops the run before its first test where a program is missing, with the command that installs it. */
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
