/** What a service's own page tells beyond the lists. */
export interface ServiceDetail {
  /** What its scene shows, in words. */
  sceneAlt: string;
  benefits: readonly string[];
  /** What it is about, at length. */
  paragraphs: readonly string[];
  features: readonly { title: string; description: string }[];
  /** The solutions that go with it, by their ids. */
  recommended: readonly string[];
  workflow: readonly { emoji: string; title: string; description: string }[];
}

/** All details, by the service's id. */
export const details: Readonly<Record<string, ServiceDetail>> = {
  'retail-wholesale-high-risk': {
    sceneAlt:
      'A shop with shelves, fridges and a till: a queue, a delivery and a gap on a shelf found, one person marked for concealing something',
    benefits: [
      'Staff are told while the goods are still in the building',
      'Shrinkage gets an address: this shelf, this hour',
      'Honest customers notice nothing',
      'No list of faces, no identities kept',
      'Works with the cameras over your aisles today',
    ],
    paragraphs: [
      'Most theft in a shop is seen by a camera and by nobody else. The recording is found weeks later, when stock is counted and the person is long gone. Detection in real time changes the order: the alert comes first, and a friendly question in the aisle is usually all it takes.',
      'The models look for what theft looks like, not for what thieves look like: a hand that goes from shelf to jacket, a sweep that empties a row, a trolley that leaves by the entrance. Who does it is left to your staff.',
      'Wholesale and high-risk stores get rules of their own: two people in the cage, no pallet out of the back door without a document, nobody behind the counter after closing.',
    ],
    features: [
      { title: 'Concealment', description: 'A hand, an item and a pocket, in that order.' },
      { title: 'Sweeping', description: 'Many items of one kind taken in seconds.' },
      { title: 'Till watch', description: 'Items that pass the till and miss the receipt.' },
      { title: 'Back doors', description: 'Deliveries in, nothing out, and a picture of both.' },
      { title: 'Queues', description: 'A second till opens before the third sigh.' },
      { title: 'Empty shelves', description: 'Restocking by sight, not by round.' },
    ],
    recommended: [
      'advanced-threat-detection',
      'smart-alert-system',
      'activity-analytics',
      'mobile-app-services',
      'custom-ai-models',
      'data-protection',
    ],
    workflow: [
      {
        emoji: '🗺️',
        title: 'Walk the store',
        description: 'We map aisles, blind spots and what is stolen where.',
      },
      {
        emoji: '📷',
        title: 'Connect cameras',
        description: 'Yours, as they hang; an edge device goes into the back room.',
      },
      {
        emoji: '🧠',
        title: 'Learn a week',
        description: 'The system learns your ordinary week and keeps quiet.',
      },
      {
        emoji: '🔔',
        title: 'First alerts',
        description: 'To one phone, with a picture, until the threshold fits.',
      },
      {
        emoji: '🤝',
        title: 'Train the floor',
        description: 'Staff learn the friendly question that ends most of it.',
      },
      { emoji: '📈', title: 'Count', description: 'Loss by shelf and hour, before and after.' },
    ],
  },
  'banks-atms-financial': {
    sceneAlt:
      'A bank lobby with cash machines and a counter: a covered lens, someone too long at a slot, a fallen person and a car backing up marked as alerts',
    benefits: [
      'Tampering is noticed before the first card is read',
      'Alerts reach the control room in under two seconds',
      'Lonely ATMs get company',
      'Evidence with time, place and an unbroken log',
      'Video stays on premises that you own',
    ],
    paragraphs: [
      'An ATM on a ring road is alone for most of the night. Whoever wants to open it, skim it or pull it out of the wall counts on that. The camera above it sees everything and, until now, told nobody.',
      'We watch for the preparations: a lens that goes dark, a person who stays where others leave, hands that do something other than press keys, a vehicle that backs up where none should. Each of them alone is harmless; together they are a call to the control room.',
      'Inside the branch the same eyes keep the rules that auditors ask for: two people at the vault, no cash on the counter after closing, nobody behind the line.',
    ],
    features: [
      { title: 'Lens cover', description: 'Sprayed, taped or turned, it is reported at once.' },
      { title: 'Loitering', description: 'Time and place decide, not looks.' },
      { title: 'Skimming', description: 'Hands at the slot for too long, and what they leave.' },
      {
        title: 'Dual control',
        description: 'The vault opens for two, and the log says which two.',
      },
      { title: 'Vehicle approach', description: 'Backing up to a machine is never a customer.' },
      { title: 'Fallen person', description: 'Help for the customer who needs it at night.' },
    ],
    recommended: [
      'advanced-threat-detection',
      'device-health-check',
      'smart-alert-system',
      'access-control',
      'deployment-options',
      'network-security',
    ],
    workflow: [
      {
        emoji: '🏦',
        title: 'Survey branches',
        description: 'Machines, counters, vaults, and the rules for each.',
      },
      {
        emoji: '🔌',
        title: 'Install at the edge',
        description: 'A device per branch; nothing leaves without a reason.',
      },
      {
        emoji: '🧪',
        title: 'Play the attack',
        description: 'Staff try what thieves try, and the system answers.',
      },
      {
        emoji: '🚨',
        title: 'Connect the room',
        description: 'Alerts arrive where your control room already looks.',
      },
      {
        emoji: '🧾',
        title: 'Prove it',
        description: 'Reports for audit, insurance and regulator.',
      },
      {
        emoji: '🔁',
        title: 'Keep current',
        description: 'New tricks become new rules, within days.',
      },
    ],
  },
  'industry-smart-factories': {
    sceneAlt:
      'A factory hall with a line, a press and a forklift: a missing helmet, someone in the danger zone and vapour marked as alerts',
    benefits: [
      'Near misses are counted before they become accidents',
      'Rules hold on the night shift, too',
      'Machines stop in time, and not for nothing',
      'Audits with pictures instead of promises',
      'Runs without a line to the outside',
      'Helps production as well as safety',
    ],
    paragraphs: [
      'A factory knows its rules by heart and breaks them by habit. The helmet hangs on the hook, the guard rail is tied back, the shortcut crosses the forklift lane. Nothing happens, until it does.',
      'Cameras that understand what they see turn each of these into a number: how often, where, on which shift. Some of them become an alert at once, because a hand beside a running press cannot wait for a monthly report.',
      'The same view finds what stops the line: the jam before the sensor, the leak before the puddle, the pallet that stands where the next one should go.',
    ],
    features: [
      { title: 'Protective gear', description: 'Helmet, vest, gloves and goggles, by zone.' },
      {
        title: 'Danger zones',
        description: 'People near moving machines, with a signal to the controller.',
      },
      { title: 'Forklifts', description: 'Corners where wheels and legs meet.' },
      { title: 'Smoke and leaks', description: 'Vapour and spills seen at the source.' },
      { title: 'Ergonomics', description: 'Lifts that will hurt next year.' },
      { title: 'Line flow', description: 'Jams and gaps, before they cost an hour.' },
    ],
    recommended: [
      'custom-ai-models',
      'advanced-threat-detection',
      'smart-alert-system',
      'deployment-options',
      'web-ai-dashboard',
      'device-health-check',
    ],
    workflow: [
      {
        emoji: '🦺',
        title: 'Walk the line',
        description: 'With your safety officer, on every shift.',
      },
      {
        emoji: '📐',
        title: 'Draw the zones',
        description: 'Where people, wheels and presses may meet, and where not.',
      },
      {
        emoji: '🖥️',
        title: 'Place the edge',
        description: 'A device in the cabinet, beside your controllers.',
      },
      { emoji: '🎯', title: 'Tune', description: 'False alarms fall until the lamp is believed.' },
      {
        emoji: '🛑',
        title: 'Interlock',
        description: 'Where you wish it, the machine stops by itself.',
      },
      {
        emoji: '📊',
        title: 'Improve',
        description: 'Near misses by place and hour, every Monday.',
      },
    ],
  },
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
};
