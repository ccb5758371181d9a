import { declared } from './tokens.ts';

// An SVG image cannot see the page's theme class. It sees the `color-scheme` of its `img` element, which the
// page sets together with the theme.

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

/** CSS of the tokens that drawings use, in both colour schemes. */
export const palettes: string = `svg{${declared('light', NAMES)}}@media (prefers-color-scheme:dark){svg{${declared('dark', NAMES)}}}`;
