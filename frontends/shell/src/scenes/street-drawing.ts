import { STREET } from './evening.ts';
import type { Drawing } from './scenes.ts';
import street from './street.svg';

const [width, height] = STREET.picture;

export const streetDrawing: Drawing = { src: street, width, height };

/** Without people: https://www.w3.org/TR/SVG2/linking.html#ViewElement */
export const emptyStreet: Drawing = { ...streetDrawing, src: `${street}#empty` };
