import type { ServiceId } from '../content/services.ts';
import bank from './banks-atms-financial.svg';
import { CLOSE_UP_WIDTHS, closeUpHeight } from './close-ups.ts';
import office from './corporate-residential.svg';
import emptyRoomSvg from './empty-room.svg';
import factory from './industry-smart-factories.svg';
import shop from './retail-wholesale-high-risk.svg';
import city from './smart-cities-infrastructure.svg';
import junction from './traffic-public-safety.svg';

export interface SceneOfService {
  whole: Drawing;
  main: Drawing;
  features: readonly Drawing[];
}

/** `src` is a file or a view of it. */
export interface Drawing {
  src: string;
  width: number;
  height: number;
}

const WHOLE = { width: 800, height: 520 };
const FEATURES = 6;

export const scenes: Readonly<Record<ServiceId, SceneOfService>> = {
  'retail-wholesale-high-risk': scene(shop),
  'banks-atms-financial': scene(bank),
  'industry-smart-factories': scene(factory),
  'traffic-public-safety': scene(junction),
  'smart-cities-infrastructure': scene(city),
  'corporate-residential': scene(office),
};

/** For not-found pages. */
export const emptyRoom: Drawing = { src: emptyRoomSvg, width: 480, height: 320 };

function scene(src: string): SceneOfService {
  return {
    whole: { src, ...WHOLE },
    main: closeUp(src, 1, CLOSE_UP_WIDTHS.main),
    features: Array.from({ length: FEATURES }, (_, at) =>
      closeUp(src, at + 2, CLOSE_UP_WIDTHS.feature),
    ),
  };
}

/** https://www.w3.org/TR/SVG2/linking.html#ViewElement */
function closeUp(src: string, number: number, width: number): Drawing {
  return { src: `${src}#v${number}`, width, height: closeUpHeight(width) };
}
