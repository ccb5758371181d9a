import type { ServiceDetail } from './service-detail.ts';

/** By service id. */
export const businessDetails = {
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
} satisfies Record<string, ServiceDetail>;
