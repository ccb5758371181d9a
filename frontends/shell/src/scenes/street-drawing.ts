import { STREET } from './evening.ts';
import type { Drawing } from './scenes.ts';
import street from './street.svg';

const [width, height] = STREET.picture;

/** The street before a shop's door, as the home page's recording ends. */
export const streetDrawing: Drawing = { src: street, width, height };

/** The same file without anybody: https://www.w3.org/TR/SVG2/linking.html#ViewElement */
export const emptyStreet: Drawing = { ...streetDrawing, src: `${street}#empty` };
