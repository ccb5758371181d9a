import type { ServiceId } from '../content/services.ts';
import bank from './banks-atms-financial.svg';
import { CLOSE_UP_WIDTHS, closeUpHeight } from './close-ups.ts';
import office from './corporate-residential.svg';
import emptyRoomSvg from './empty-room.svg';
import factory from './industry-smart-factories.svg';
import shop from './retail-wholesale-high-risk.svg';
import city from './smart-cities-infrastructure.svg';
import junction from './traffic-public-safety.svg';

/** A drawn place, and the parts of it that are shown on their own. */
export interface SceneOfService {
  /** The whole place. */
  whole: Drawing;
  /** Close-up of what matters most in it. */
  main: Drawing;
  /** Close-ups of the features, in their order. */
  features: readonly Drawing[];
}

/** Picture props of a drawing: its file, or a view of it, and its size. */
export interface Drawing {
  src: string;
  width: number;
  height: number;
}

const WHOLE = { width: 800, height: 520 };
/** Every service has as many features. */
const FEATURES = 6;

/** The place of each service, by the service's id. */
export const scenes: Readonly<Record<ServiceId, SceneOfService>> = {
  'retail-wholesale-high-risk': scene(shop),
  'banks-atms-financial': scene(bank),
  'industry-smart-factories': scene(factory),
  'traffic-public-safety': scene(junction),
  'smart-cities-infrastructure': scene(city),
  'corporate-residential': scene(office),
};

/** An empty room, for pages that are not there. */
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
