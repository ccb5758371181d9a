export interface Solution {
  /** Anchor on the solutions page. */
  id: string;
  title: string;
  description: string;
  features: readonly string[];
}

export const solutions: readonly Solution[] = [
  {
    id: 'advanced-threat-detection',
    title: 'Advanced Threat Detection',
    description:
      'Weapons, fights, intrusions and fire are recognised as they begin, not when the recording is reviewed.',
    features: [
      'Weapons, fights and falls recognised in real time',
      'Intrusion by line, zone and time of day',
      'Smoke and fire seen before a ceiling sensor smells them',
      'A confidence with every alert, and a threshold you set',
      'Works on the cameras you have, by day and by night',
    ],
  },
  {
    id: 'visual-surveillance-analytics',
    title: 'Visual Surveillance Analytics',
    description:
      'What happened where, how often and for how long, read from video that nobody has time to watch.',
    features: [
      'Search footage by what happened, not by the hour',
      'People and vehicles counted by direction',
      'Unusual patterns marked against an ordinary week',
      'Faces blurred wherever identity is not needed',
      'Reports by site, camera and shift',
    ],
  },
  {
    id: 'smart-alert-system',
    title: 'Smart Alert System',
    description: 'One alert, with picture and reason, to whoever is on duty.',
    features: [
      'Multi-channel alerts: SMS, WhatsApp, Email and Dashboard',
      'The picture and the reason in every message',
      'Rotas and escalation when nobody answers',
      'Repeats of one incident kept together as one',
      'Quiet hours that still let a real alarm through',
    ],
  },
  {
    id: 'mobile-app-services',
    title: 'Mobile App Services',
    description:
      'Live view, alerts and acknowledgement in your pocket, on the phone that your team already carries.',
    features: [
      'Live view of any camera you may see',
      'Alerts that can be acknowledged with one thumb',
      'Clips shared with a link that expires',
      'Works on a weak connection',
      'Android and iOS, with single sign-on',
    ],
  },
  {
    id: 'web-ai-dashboard',
    title: 'Web AI Dashboard',
    description:
      'All sites, cameras and incidents on one page in the browser, with the views each role needs.',
    features: [
      'All sites on one page, the loud ones first',
      'Role-based views for guards, managers and auditors',
      'Incidents with clip, place, time and who took them',
      'Heat maps and trends by hour and weekday',
      'Keyboard operation for control rooms',
    ],
  },
  {
    id: 'device-health-check',
    title: 'Device Health Check',
    description:
      'A camera that is blind, frozen, turned or offline is reported before the day you need it.',
    features: [
      'Blind, frozen and turned cameras found by their picture',
      'Offline devices reported within minutes',
      'Recorders checked for gaps and full disks',
      'Clock drift noticed before a court does',
      'A weekly list for the maintenance firm',
    ],
  },
  {
    id: 'deployment-options',
    title: 'Deployment Options',
    description:
      'In the cloud, on an edge device on your premises, or both: you decide where your video may go.',
    features: [
      'Cloud, on-premise edge, or a mix per site',
      'Video that never leaves the building, if you want that',
      'Edge devices that go on working without the line',
      'Rolling updates without a dark minute',
      'IP cameras, and analog ones by an encoder',
    ],
  },
  {
    id: 'custom-ai-models',
    title: 'Custom AI Models',
    description:
      'Models trained for your scenes and assigned camera by camera, because a vault is not a car park.',
    features: [
      'Per-camera AI model assignment',
      'Models trained on your own scenes',
      'Measured on footage that the model never saw',
      'New versions tried silently before they speak',
      'Your data trains your models and nobody else’s',
    ],
  },
  {
    id: 'activity-analytics',
    title: 'Activity Analytics',
    description:
      'Counting, dwelling, queueing, flows: figures for running the place, from the cameras that guard it.',
    features: [
      'Footfall, dwell time and queues by zone',
      'Paths through a shop, a station or a yard',
      'Occupancy with a limit that alerts',
      'Staffing advice from last month’s peaks',
      'Figures without identities, exported as CSV',
    ],
  },
  {
    id: 'data-protection',
    title: 'Data Protection',
    description:
      'Encryption in transit and at rest, retention you set, and an audit log of who looked at what.',
    features: [
      'Encryption in transit and at rest',
      'Audit logs of every look at a recording',
      'Retention by camera, enforced by the system',
      'Access and deletion requests answered from one screen',
      'Masks for windows and streets that are not yours',
    ],
  },
  {
    id: 'access-control',
    title: 'Access Control',
    description:
      'Doors that know badges and faces, and people who only see what their role allows.',
    features: [
      'Role-based access, down to the single camera',
      'Badge and face together, or either alone',
      'Tailgating noticed at the door',
      'Visitors with a pass that ends by itself',
      'Doors and video in one timeline',
    ],
  },
  {
    id: 'network-security',
    title: 'Network Security',
    description:
      'Cameras are computers on your network. We keep them updated, separated and out of trouble.',
    features: [
      'Cameras on a network of their own',
      'Default passwords found and replaced',
      'Firmware kept current, with a way back',
      'Only outgoing, encrypted connections',
      'Strange traffic from a camera raises an alarm',
    ],
  },
];
