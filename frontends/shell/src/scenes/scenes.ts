import bank from './bank.svg';
import city from './city.svg';
import closeUps from './close-ups.json' with { type: 'json' };
import factory from './factory.svg';
import junction from './junction.svg';
import nothing from './nothing.svg';
import office from './office.svg';
import shop from './shop.svg';

/** A drawn place, and the parts of it that are shown on their own. */
export interface SceneOfService {
  /** The whole place. */
  whole: Drawing;
  /** What matters most in it. */
  main: Drawing;
  /** One for each feature, in their order. */
  features: readonly Drawing[];
}

/** What a `Picture` shows of a drawing. */
export interface Drawing {
  src: string;
  width: number;
  height: number;
}

/** The place of each service, by the service's id. */
export const scenes: Readonly<Record<string, SceneOfService>> = {
  'retail-wholesale-high-risk': scene(shop, closeUps.shop),
  'banks-atms-financial': scene(bank, closeUps.bank),
  'industry-smart-factories': scene(factory, closeUps.factory),
  'traffic-public-safety': scene(junction, closeUps.junction),
  'smart-cities-infrastructure': scene(city, closeUps.city),
  'corporate-residential': scene(office, closeUps.office),
};

/** An empty room, for pages that are not there. */
export const emptyRoom: Drawing = { src: nothing, width: 480, height: 320 };

/** The shop, with which the site opens. */
export const opening: Drawing = { src: shop, width: 800, height: 520 };

/** A part of a drawing that is shown on its own, under the name of its view. */
interface CloseUp {
  name: string;
  width: number;
  height: number;
}

function scene(
  src: string,
  parts: { main: CloseUp; features: readonly CloseUp[] },
): SceneOfService {
  return {
    whole: { src, width: 800, height: 520 },
    main: part(src, parts.main),
    features: parts.features.map(feature => part(src, feature)),
  };
}

/** https://www.w3.org/TR/SVG2/linking.html#ViewElement */
function part(src: string, { name, width, height }: CloseUp): Drawing {
  return { src: `${src}#${name}`, width, height };
}
