import type { IconName } from '../frame/icon.tsx';
import type { overviewIds } from './services.ts';

export interface OverviewService {
  /** Anchor on the overview page. `overviewIds` maps it to a service. */
  id: keyof typeof overviewIds;
  title: string;
  description: string;
  icon: IconName;
  features: readonly string[];
  benefits: readonly string[];
  useCases: readonly string[];
}

export const overview: readonly OverviewService[] = [
  {
    id: 'residential',
    title: 'Residential Security',
    description:
      'Gates, lobbies and car parks that know who lives here, greet who is expected, and announce who is neither.',
    icon: 'home',
    features: [
      'Known faces pass, strangers are announced',
      'Parcels watched until fetched',
      'Night zones by the hour',
    ],
    benefits: [
      'Residents pass without a badge or a bell',
      'Guards are told where to look, not just to look',
      'Deliveries stop disappearing from the lobby',
      'Footage stays in the building',
      'One system for gate, lift and garage',
    ],
    useCases: [
      'A stranger follows a resident through the gate: the guard sees both, side by side.',
      'A child walks towards the pool outside hours: an alert with a picture, at once.',
      'A car stands before the fire exit: its owner gets a message, not a fine.',
      'Somebody tries the doors of parked cars at two in the morning: lights go on.',
      'A courier leaves a parcel: the flat is told, and told again when it is taken.',
    ],
  },
  {
    id: 'commercial',
    title: 'Commercial Security',
    description:
      'Branches, counters and ATMs under an eye that notices tampering and loitering and forgives everybody else.',
    icon: 'bank',
    features: [
      'Tampering and covered lenses',
      'Loitering by time and place',
      'Branch rules by opening hours',
    ],
    benefits: [
      'Attacks on ATMs are seen before they succeed',
      'Branches open and close by rule, with proof',
      'Fewer visits by guards, for better reasons',
      'Evidence that fits on one page',
      'Works with the recorders that auditors know',
    ],
    useCases: [
      'A hand stays at the card slot too long: the control room looks before the skimmer sits.',
      'A lens goes dark: the neighbouring camera is asked what happened.',
      'Two people enter where one badge was read: the second is marked.',
      'Cash is loaded without the second key holder: the rule speaks up.',
      'A customer falls in the lobby after hours: help is called by address.',
    ],
  },
  {
    id: 'public-safety',
    title: 'Public Safety',
    description:
      'Squares, stations and substations in one view, with alerts for those who can act and silence for the rest.',
    icon: 'city',
    features: [
      'Crowd density and flow',
      'Unattended objects',
      'Perimeters that tell a fox from a person',
    ],
    benefits: [
      'Crowds are thinned before they press',
      'One picture for police, fire and operators',
      'Masks over windows that are nobody’s business',
      'Every look is logged',
      'Grows street by street',
    ],
    useCases: [
      'A bag stays behind on a bench: its owner is found in the minutes before.',
      'A crowd thickens at one exit: another is opened.',
      'Somebody climbs a substation’s fence: dispatch sees where and how many.',
      'A street lamp fails: the darker picture reports it.',
      'A march turns a corner early: traffic is told with it.',
    ],
  },
  {
    id: 'retail',
    title: 'Retail Security',
    description:
      'Aisles, tills and back doors watched for what theft looks like, while shopping stays a pleasure.',
    icon: 'shop',
    features: [
      'Concealment and sweeping',
      'Till and receipt side by side',
      'Queues and empty shelves',
    ],
    benefits: [
      'Staff are told while the goods are in the building',
      'Honest customers notice nothing',
      'Shrinkage gets an address: this shelf, this hour',
      'Queues shorten because somebody sees them',
      'No faces are kept',
    ],
    useCases: [
      'A jacket closes over a bottle: the nearest member of staff offers help.',
      'A trolley leaves by the entrance: the door is asked to wait.',
      'An item passes the till unscanned: the line in the receipt is marked.',
      'A back door stands open after a delivery: the manager’s phone knows.',
      'Five people queue at one till: a second one opens.',
    ],
  },
  {
    id: 'industrial',
    title: 'Industrial Safety',
    description:
      'Presses, docks and tank farms with a safety officer at every camera who never blinks and never shouts.',
    icon: 'factory',
    features: [
      'Helmets, vests and gloves',
      'People near moving machines',
      'Smoke, leaks and spills',
    ],
    benefits: [
      'Near misses are counted before they become accidents',
      'Rules hold on the night shift, too',
      'Machines stop in time, and not for nothing',
      'Audits with pictures instead of promises',
      'Runs without a line to the outside',
    ],
    useCases: [
      'A worker enters the press area without a helmet: the lamp at the gate turns red.',
      'A forklift and a pair of legs approach one corner: both are warned.',
      'Vapour appears at a flange: the shift leader sees which one.',
      'A guard rail is left open: the line does not start.',
      'Somebody lies still for ten seconds: the call goes out by itself.',
    ],
  },
  {
    id: 'traffic',
    title: 'Traffic Management',
    description:
      'Junctions and carriageways that count, warn and call for help by themselves, before the first caller does.',
    icon: 'road',
    features: [
      'Wrong-way and stopped vehicles',
      'People on the carriageway',
      'Counts by class and lane',
    ],
    benefits: [
      'The control room knows before the first call',
      'Signals follow the traffic of today',
      'Ambulances find the green wave',
      'Counting without loops in the asphalt',
      'Plates are read only where a law says so',
    ],
    useCases: [
      'A car turns into the wrong slip road: signs flash, and police see it move.',
      'A lorry stops on the bridge: the lane closes behind it.',
      'A child’s ball crosses, then the child: the signal holds.',
      'Rain slows a junction: its cycle lengthens.',
      'Two cars touch: the tow truck starts before the argument does.',
    ],
  },
];

export const tiles: readonly { title: string; text: string }[] = [
  {
    title: 'AI-Powered Protection',
    text: 'Models for your kind of place, measured on your own scenes.',
  },
  { title: '24/7 Monitoring', text: 'The watch does not tire, and people back it up.' },
  {
    title: 'Secure Data Storage',
    text: 'Encrypted, in the country you choose, as short as you choose.',
  },
  {
    title: 'Access Control',
    text: 'Everyone sees what their role allows, and every look is logged.',
  },
];
