import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// A picture is a document of its own and knows nothing of the page's class for the theme; what it knows is
// the colour scheme of the element that shows it, and the page sets that with the theme.

const tokens = readFileSync(join(import.meta.dirname, '../src/tokens.css'), 'utf8');
const NAMES = [
  ...[
    'raised',
    'ink',
    'line',
    'seen',
    'on-seen',
    'alert',
    'on-alert',
    'face-t',
    'face-l',
    'face-r',
  ],
  ...['stroke', 'road', 'cone', 'lit', 'screen', 'figure'],
];

/** The colours of the kit's tokens that drawings use, for both colour schemes. */
export const palettes: string = `svg{${colours(':root')}}@media (prefers-color-scheme:dark){svg{${colours('.dark')}}}`;

function colours(selector: string): string {
  const rule = tokens.slice(tokens.indexOf(`\n${selector}`));
  const block = rule.slice(0, rule.indexOf('}'));
  return NAMES.map(name => {
    const value = block.match(new RegExp(`--${name}: ([^;]+);`))?.[1];
    if (!value) {
      throw new Error(`tokens.css has no --${name} under ${selector}`);
    }
    return `--${name}:${value}`;
  }).join(';');
}
