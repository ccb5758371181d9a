import { declared } from './tokens.ts';

// A picture is a document of its own and knows nothing of the page's class for the theme; what it knows is
// the colour scheme of the element that shows it, and the page sets that with the theme.

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
export const palettes: string = `svg{${declared('light', NAMES)}}@media (prefers-color-scheme:dark){svg{${declared('dark', NAMES)}}}`;
