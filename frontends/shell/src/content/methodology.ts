export const phases: readonly { title: string; description: string }[] = [
  {
    title: 'Discovery Audit',
    description:
      'We analyze your current setup, walk its blind spots, and define the surveillance goals: what the system must notice.',
  },
  {
    title: 'Solution Architecture',
    description:
      'A tailored, AI-ready blueprint for your sites: which models, which edge devices, which alerts to whom.',
  },
  {
    title: 'Precision Deployment',
    description:
      'Hardware and software are installed with zero downtime, beside what you run today. Nothing goes dark.',
  },
  {
    title: 'Validation Testing',
    description:
      'Performance, accuracy and stability are measured on your own scenes, at noon and at three in the morning.',
  },
  {
    title: 'Ongoing Excellence',
    description:
      '24/7 monitoring, updates and support, so that the system is better next year than today.',
  },
];
