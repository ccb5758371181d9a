import type { ServiceDetail } from './service-detail.ts';

/** By service id. */
export const publicDetails = {
  'traffic-public-safety': {
    sceneAlt:
      'A crossroads: a car that drives the wrong way, a stopped one, a near miss and someone on the road marked as alerts, an ambulance found',
    benefits: [
      'The control room knows before the first call',
      'Emergency services find a way that is already clear',
      'Counts by class and lane without loops in the asphalt',
      'Plates are read only where a law says so',
      'The poles and cameras of today stay in use',
    ],
    paragraphs: [
      'A junction is the best-watched place in a city and the least understood. Its cameras show a wall of pictures to two people who cannot look everywhere, and the first to report an accident is usually a driver with a telephone.',
      'Our models follow every vehicle and every person through the picture. What leaves its lane, its direction or its speed is marked within a second, and what stands where nothing may stand is reported with its position.',
      'The same tracks, without plates and faces, give the figures that planners have always wanted: who turns where, how long pedestrians wait, and what the new signal really changed.',
    ],
    features: [
      { title: 'Wrong way', description: 'Seen on the slip road, not on the motorway.' },
      {
        title: 'Stopped vehicle',
        description: 'On the bridge, in the tunnel, on the hard shoulder.',
      },
      { title: 'People on the road', description: 'Between cars, at night, where no crossing is.' },
      { title: 'Queue length', description: 'Signals that follow today’s traffic.' },
      { title: 'Green wave', description: 'For ambulances, measured from siren to junction.' },
      { title: 'Near misses', description: 'The accidents of next year, counted now.' },
    ],
    recommended: [
      'visual-surveillance-analytics',
      'activity-analytics',
      'smart-alert-system',
      'web-ai-dashboard',
      'deployment-options',
      'data-protection',
    ],
    workflow: [
      {
        emoji: '🚦',
        title: 'Choose junctions',
        description: 'Where it hurts most, by your own figures.',
      },
      { emoji: '📹', title: 'Take the feeds', description: 'From the cameras on your poles.' },
      {
        emoji: '🛣️',
        title: 'Draw lanes',
        description: 'Directions, crossings and forbidden places.',
      },
      {
        emoji: '📡',
        title: 'Connect control',
        description: 'Alerts where signals and signs are switched.',
      },
      {
        emoji: '🚑',
        title: 'Clear the way',
        description: 'Emergency routes, tried with real crews.',
      },
      { emoji: '📉', title: 'Measure', description: 'Before and after, published if you like.' },
    ],
  },
  'smart-cities-infrastructure': {
    sceneAlt:
      'A square between houses: a crowd counted, a bag left behind and an intruder at a substation marked as alerts, windows masked',
    benefits: [
      'One picture for police, fire and operators',
      'Crowds are thinned before they press',
      'Windows and courtyards are masked at the camera',
      'Every look at a recording is logged',
      'Grows street by street, budget by budget',
    ],
    paragraphs: [
      'A city owns thousands of cameras and looks through a few dozen of them. The rest record, for the case that somebody asks. What it takes is not more cameras but a way to hear the ones that have something to say.',
      'One view over stations, squares, bridges and substations shows what needs a decision: a crowd that thickens, a bag that stays, a fence that somebody climbs, a lamp that failed. All else stays dark, which is also good for privacy.',
      'Because it is the public that is watched, rules come first: masks over private windows, no identification without a court, retention by law, and a log that a commissioner can read.',
    ],
    features: [
      { title: 'Crowd density', description: 'People per square metre, and which way they press.' },
      { title: 'Unattended objects', description: 'With the minutes before they were left.' },
      { title: 'Perimeters', description: 'A fox is a fox, a person is an alert.' },
      { title: 'City services', description: 'Full bins, dark lamps and flooded kerbs.' },
      { title: 'Masks', description: 'What is private is never recorded.' },
      { title: 'Joint view', description: 'Each authority sees what its role allows.' },
    ],
    recommended: [
      'web-ai-dashboard',
      'visual-surveillance-analytics',
      'data-protection',
      'access-control',
      'network-security',
      'device-health-check',
    ],
    workflow: [
      {
        emoji: '🏙️',
        title: 'Agree the rules',
        description: 'With counsel, commissioner and council, first.',
      },
      {
        emoji: '🧭',
        title: 'Pick a district',
        description: 'Small enough to learn, large enough to matter.',
      },
      {
        emoji: '🔗',
        title: 'Join the feeds',
        description: 'Of several owners, each keeping its own.',
      },
      { emoji: '👥', title: 'Set roles', description: 'Who sees what, and who sees who saw it.' },
      { emoji: '📣', title: 'Drill', description: 'A lost child, a flooded underpass, a march.' },
      {
        emoji: '🌆',
        title: 'Grow',
        description: 'District by district, with the figures of the last.',
      },
    ],
  },
  'corporate-residential': {
    sceneAlt:
      'An office beside a house: someone after hours and someone tailgating marked as alerts, a visitor, a parcel and a cat found',
    benefits: [
      'Who belongs passes unbothered',
      'Who does not is announced in under three seconds',
      'Deliveries stop disappearing from the lobby',
      'One system for gate, lift, garage and office',
      'Footage stays in the building',
    ],
    paragraphs: [
      'An office after hours and a lobby at noon ask opposite things of the same camera: let everybody through who belongs, and do not overlook the one who does not. Badges are lent, doors are held open, and the guard knows half of the faces.',
      'Access and video in one timeline settle most of it. A door that opens without a badge, two people on one swipe, a visitor on the wrong floor: each is a line with a picture, not a search through hours.',
      'Where people live, the same system does less on purpose. It knows parcels, cars and open gates, keeps no list of friends, and forgets within days.',
    ],
    features: [
      { title: 'Tailgating', description: 'Two people, one badge, one picture.' },
      { title: 'Visitors', description: 'A pass that ends by itself.' },
      { title: 'After hours', description: 'Floors that should be empty, and are not.' },
      { title: 'Parcels', description: 'Watched from courier to resident.' },
      { title: 'Parking', description: 'The fire exit stays free, politely.' },
      { title: 'Perimeter', description: 'Gate and fence at midnight, without the cat.' },
    ],
    recommended: [
      'access-control',
      'mobile-app-services',
      'smart-alert-system',
      'data-protection',
      'deployment-options',
      'device-health-check',
    ],
    workflow: [
      { emoji: '🔑', title: 'List the doors', description: 'Who may pass which, and when.' },
      {
        emoji: '🏢',
        title: 'Fit the device',
        description: 'In the cabinet where your network ends.',
      },
      { emoji: '🪪', title: 'Join badges', description: 'With the access system that you have.' },
      { emoji: '🌙', title: 'Try the night', description: 'We walk in where nobody should.' },
      {
        emoji: '📱',
        title: 'Hand over',
        description: 'To guards, caretakers and residents’ phones.',
      },
      { emoji: '🧹', title: 'Forget', description: 'Retention runs, and shows that it ran.' },
    ],
  },
} satisfies Record<string, ServiceDetail>;
