/** What a solution does, in short. */
export interface Solution {
  /** Its anchor on the solutions page. */
  id: string;
  title: string;
  description: string;
}

/** All twelve solutions. */
export const solutions: readonly Solution[] = [
  {
    id: 'advanced-threat-detection',
    title: 'Advanced Threat Detection',
    description:
      'Weapons, fights, intrusions and fire are recognised as they begin, not when the recording is reviewed.',
  },
  {
    id: 'visual-surveillance-analytics',
    title: 'Visual Surveillance Analytics',
    description:
      'What happened where, how often and for how long, read from video that nobody has time to watch.',
  },
  {
    id: 'smart-alert-system',
    title: 'Smart Alert System',
    description:
      'One alert, with picture and reason, over SMS, WhatsApp, e-mail or the dashboard, to whoever is on duty.',
  },
  {
    id: 'mobile-app-services',
    title: 'Mobile App Services',
    description:
      'Live view, alerts and acknowledgement in your pocket, on the phone that your team already carries.',
  },
  {
    id: 'web-ai-dashboard',
    title: 'Web AI Dashboard',
    description:
      'All sites, cameras and incidents on one page in the browser, with the views each role needs.',
  },
  {
    id: 'device-health-check',
    title: 'Device Health Check',
    description:
      'A camera that is blind, frozen, turned or offline is reported before the day you need it.',
  },
  {
    id: 'deployment-options',
    title: 'Deployment Options',
    description:
      'In the cloud, on an edge device on your premises, or both: you decide where your video may go.',
  },
  {
    id: 'custom-ai-models',
    title: 'Custom AI Models',
    description:
      'Models trained for your scenes and assigned camera by camera, because a vault is not a car park.',
  },
  {
    id: 'activity-analytics',
    title: 'Activity Analytics',
    description:
      'Counting, dwelling, queueing, flows: figures for running the place, from the cameras that guard it.',
  },
  {
    id: 'data-protection',
    title: 'Data Protection',
    description:
      'Encryption in transit and at rest, retention you set, and an audit log of who looked at what.',
  },
  {
    id: 'access-control',
    title: 'Access Control',
    description:
      'Doors that know faces and badges, and people who only see what their role allows.',
  },
  {
    id: 'network-security',
    title: 'Network Security',
    description:
      'Cameras are computers on your network. We keep them updated, separated and out of trouble.',
  },
];
