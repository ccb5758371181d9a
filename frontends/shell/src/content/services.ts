import type { IconName } from '../frame/icon.tsx';

interface Stat {
  value: string;
  label: string;
}

export interface Service {
  /** Path segment below `/services/`. */
  id: ServiceId;
  menu: string;
  hint: string;
  title: string;
  description: string;
  icon: IconName;
  stats: readonly Stat[];
}

const ROUND_THE_CLOCK: Stat = { value: '24/7', label: 'monitoring' };

/** In the order of the menu. */
export const services: readonly Service[] = [
  {
    id: 'retail-wholesale-high-risk',
    menu: 'Retail Security',
    hint: 'Shop and wholesale security',
    title: 'Retail, Wholesale and High-Risk Stores',
    description:
      'Theft looks like shopping until the last second. We watch aisles, tills and back doors, and tell your staff while the goods are still in the building.',
    icon: 'shop',
    stats: [
      { value: '35%', label: 'theft reduction' },
      { value: '90%', label: 'detection accuracy' },
      ROUND_THE_CLOCK,
    ],
  },
  {
    id: 'banks-atms-financial',
    menu: 'Bank Security',
    hint: 'Financial institutions',
    title: 'Banks, ATMs and Financial Institutions',
    description:
      'From the vault corridor to the lonely ATM on the ring road: loitering, tampering and covered lenses are noticed within two seconds, day and night.',
    icon: 'bank',
    stats: [
      { value: '99.8%', label: 'detection accuracy' },
      { value: 'under 2s', label: 'alert response' },
      ROUND_THE_CLOCK,
    ],
  },
  {
    id: 'industry-smart-factories',
    menu: 'Industry Safety',
    hint: 'Smart factories',
    title: 'Industry and Smart Factories',
    description:
      'A missing helmet, a hand too near the press, smoke where there was none. The cameras you have become the safety officer who never blinks.',
    icon: 'factory',
    stats: [
      { value: '50%', label: 'safety incidents reduced' },
      { value: '30%', label: 'equipment downtime' },
      ROUND_THE_CLOCK,
    ],
  },
  {
    id: 'traffic-public-safety',
    menu: 'Traffic Safety',
    hint: 'Public safety',
    title: 'Traffic and Public Safety',
    description:
      'Wrong-way driving, stopped vehicles and people on the carriageway are seen at once, and the control room knows before the first call.',
    icon: 'road',
    stats: [
      { value: '40%', label: 'faster emergency response' },
      { value: '25%', label: 'traffic reduction' },
      { value: '30%', label: 'accident reduction' },
    ],
  },
  {
    id: 'smart-cities-infrastructure',
    menu: 'Smart Cities',
    hint: 'Government infrastructure',
    title: 'Smart Cities and Infrastructure',
    description:
      'One view over stations, squares and substations. Crowds, unattended bags and intrusions are reported to the people who can act, with the picture that shows why.',
    icon: 'city',
    stats: [
      { value: '65%', label: 'faster emergency response' },
      { value: '40%', label: 'crime reduction' },
      ROUND_THE_CLOCK,
    ],
  },
  {
    id: 'corporate-residential',
    menu: 'Corporate Security',
    hint: 'Offices and residential',
    title: 'Corporate and Residential',
    description:
      'Offices after hours, lobbies at noon, gates at midnight: who belongs passes unbothered, who does not is announced in under three seconds.',
    icon: 'home',
    stats: [
      { value: '99.5%', label: 'access control accuracy' },
      { value: 'under 3s', label: 'alert response' },
      ROUND_THE_CLOCK,
    ],
  },
];

/** Service ids by anchor on the overview page. */
export const overviewIds = {
  residential: 'corporate-residential',
  commercial: 'banks-atms-financial',
  'public-safety': 'smart-cities-infrastructure',
  retail: 'retail-wholesale-high-risk',
  industrial: 'industry-smart-factories',
  traffic: 'traffic-public-safety',
} as const;

export type ServiceId = (typeof overviewIds)[keyof typeof overviewIds];
