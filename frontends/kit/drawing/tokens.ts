import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Theme = 'light' | 'dark';

const css = readFileSync(join(import.meta.dirname, '../src/tokens.css'), 'utf8');

/** Colour tokens by name, for code without a stylesheet, such as drawings and the web manifest. */
export const colours: Readonly<Record<Theme, ReadonlyMap<string, string>>> = {
  light: declaredIn(':root,\n.light'),
  dark: declaredIn('.dark'),
};

export function colour(theme: Theme, name: string): string {
  const value = colours[theme].get(name);
  if (!value) {
    throw new Error(`tokens.css has no --${name} in the ${theme} theme`);
  }
  return value;
}

export function declared(theme: Theme, names: Iterable<string> = colours[theme].keys()): string {
  return Array.from(names, name => `--${name}:${colour(theme, name)}`).join(';');
}

function declaredIn(selector: string): ReadonlyMap<string, string> {
  const [, block = ''] = css.split(`\n${selector} {\n`);
  const declarations = block.slice(0, block.indexOf('}')).matchAll(/--([\w-]+): ([^;]+);/g);
  return new Map(Array.from(declarations, ([, name = '', value = '']) => [name, value]));
}
