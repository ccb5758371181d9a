/** The parts of the company that take interns. */
export const departments = ['Marketing', 'Media', 'Engineering', 'Data', 'Business'] as const;

/** An internship. */
export interface Position {
  /** From 1 on. */
  id: number;
  /** Its address below `/careers/`. */
  slug: string;
  title: string;
  department: (typeof departments)[number];
  /** The day on which it was opened, as `2025-04-30`. */
  opened: string;
  /** The last day on which applications are taken: from the next one on its page says that it is closed, with status 410. */
  closes: string;
  description: string;
  requirements: readonly string[];
  benefits: readonly string[];
}

/** Terms of every position. */
export const TERMS = {
  type: 'Internship',
  experience: 'Student / Fresher',
  location: 'Remote / Chennai',
  /** All three in a sentence: what search engines show as remote has to say so in its description. */
  sentence:
    'A fully remote internship for students and freshers, from anywhere in India, or in Chennai, as you choose.',
} as const;

/** What a position is about, in a sentence. */
export function firstSentenceOf({ description }: Position): string {
  return description.slice(0, description.indexOf('. ') + 1);
}

/** All internships, the closed ones too: an address that was given out answers as long as it stands here. */
export const positions: readonly Position[] = [
  {
    id: 1,
    slug: 'marketing-intern',
    title: 'Marketing Intern',
    department: 'Marketing',
    opened: '2025-04-30',
    closes: '2027-06-30',
    description:
      'Explain what a camera understands to people who have a shop to run. You write, measure what was read, and write it better. In your first weeks you take over the newsletter and one kind of place, say shops, and learn it by visiting some. Later you plan a campaign yourself, from the question it answers to the figure that says whether it worked. You sit with the people who build what you write about, and you may ask them why until it is clear.',
    requirements: [
      'Clear written English; a second Indian language helps',
      'Something you have published: a blog, a campus paper, a channel',
      'Comfort with a spreadsheet and an unflattering number',
    ],
    benefits: [
      'Your name under what you write',
      'A campaign of your own from idea to figures',
      'Weekly review with the people who talk to customers',
    ],
  },
  {
    id: 2,
    slug: 'video-editing-intern',
    title: 'Video Editing Intern',
    department: 'Media',
    opened: '2025-04-30',
    closes: '2027-06-30',
    description:
      'Turn hours of footage and screen recordings into ninety seconds that a busy manager watches to the end. You begin with what we have, recut it, and find out where people stop watching. Then come films of your own: a customer’s yard at night, a feature explained without a single arrow, an internship in a minute. Nobody appears in them who has not been asked.',
    requirements: [
      'A short reel, cut by you',
      'Working knowledge of one editing program and of sound',
      'An eye for captions: most people watch without sound',
    ],
    benefits: [
      'A reel of published films',
      'Access to licensed tools and music',
      'Shoots at real sites, with those who install there',
    ],
  },
  {
    id: 3,
    slug: 'computer-vision-intern',
    title: 'Computer Vision Intern',
    department: 'Engineering',
    opened: '2025-04-30',
    closes: '2027-12-31',
    description:
      'Train, test and prune the models that find people, vehicles and trouble in ordinary CCTV footage, and find out why they were wrong last night. You start with one mistake that customers report, reproduce it, and follow it to the data, the model or the camera. Then you mend it, show by a test that it stays mended, and see the result run at a real site. The models must fit on a device without a fan, so you learn to make them smaller and not only better.',
    requirements: [
      'Python and PyTorch or a similar framework, shown by a project',
      'Linear algebra and probability that you can use, not only recite',
      'Patience for looking at pictures that a model got wrong',
    ],
    benefits: [
      'GPU time, and data that was collected with consent',
      'A result of yours running on a device at a customer’s site',
      'A paper-reading hour every week',
    ],
  },
  {
    id: 4,
    slug: 'data-annotation-analytics-intern',
    title: 'Data Annotation/Analytics Intern',
    department: 'Data',
    opened: '2025-04-30',
    closes: '2027-09-30',
    description:
      'Label what models learn from, measure how far two people agree on it, and turn both into figures that decide what is trained next. You write the rules by which a picture is labelled, try them on yourself and on others, and improve them where people disagree. You keep the figures of our data sets: what is in them, what is missing, whom they might treat unfairly. All footage comes with consent, and you learn how to keep it that way.',
    requirements: [
      'Care that outlasts the thousandth picture',
      'SQL or Python for counting and plotting',
      'The habit of asking where a number comes from',
    ],
    benefits: [
      'Training in measurement and in data protection',
      'Work that every model of ours depends on',
      'A way into the vision team for those who want it',
    ],
  },
  {
    id: 5,
    slug: 'business-development-intern',
    title: 'Business Development Intern',
    department: 'Business',
    opened: '2025-04-30',
    closes: '2027-09-30',
    description:
      'Find the places that need us, learn what keeps their managers awake, and prepare the first conversation. You choose a kind of place and a region, find out who decides there and what a bad week costs them, and put it on one page. Then you come along to the first visits, at first to listen. What you hear goes back to the people who build, in words they can use.',
    requirements: [
      'Ease on the telephone and in a shop you have never been to',
      'Research that ends in one page, not in twenty',
      'Tamil, Hindi or another Indian language beside English',
    ],
    benefits: [
      'Visits to customers from the second week on',
      'Coaching by our sales lead',
      'A share in the deal that you opened, as a line in your reference',
    ],
  },
  {
    id: 6,
    slug: 'ai-intern',
    title: 'AI Intern',
    department: 'Engineering',
    opened: '2025-04-30',
    closes: '2027-12-31',
    description:
      'Work on what comes after detection: tracking, behaviour, and alerts that can give a reason a guard accepts. The first task is small and complete: one behaviour, its data, a model, an evaluation, and the words in which the alert explains itself. Then you choose the next one with your mentor. You read a paper a week, mostly to find out what it leaves out.',
    requirements: [
      'Solid Python and one machine-learning project from data to result',
      'Curiosity about why a model decides as it does',
      'Readiness to test an idea before you defend it',
    ],
    benefits: [
      'A mentor from the AI team for the whole time',
      'Compute for your own experiments',
      'Your work presented to the company, by you',
    ],
  },
  {
    id: 7,
    slug: 'backend-intern',
    title: 'Backend Intern',
    department: 'Engineering',
    opened: '2025-04-30',
    closes: '2027-12-31',
    description:
      'Build services that take events from thousands of cameras and lose none of them, in Rust, over gRPC and message streams. You begin with a service that is there: read it, draw it, break it on purpose, and write the test that should have caught it. Then you add to it, with deadlines, retries and the awkward question of what happens when the power fails in between. Your code is reviewed by people who explain what they would change.',
    requirements: [
      'One language with types, known well; Rust can be learned here',
      'An idea of what happens between a socket and a disk',
      'Tests written because you want to sleep',
    ],
    benefits: [
      'Code of yours in production within a month',
      'Reviews that explain, by people with time for them',
      'On-call shadowing, without the pager',
    ],
  },
  {
    id: 8,
    slug: 'frontend-intern',
    title: 'Frontend Intern',
    department: 'Engineering',
    opened: '2025-04-30',
    closes: '2027-12-31',
    description:
      'Make a dashboard that a guard reads in a second at three in the morning, with React, TypeScript and restraint. You start by watching somebody use what we have, and take three things away from it. Then you build: a list of alerts that stays calm in a bad night, a form that loses nothing, a chart that needs no legend. It must work with the keyboard, on an old telephone, and for those who cannot see it.',
    requirements: [
      'HTML, CSS and TypeScript, shown by something we can open',
      'Attention to keyboards, screen readers and slow telephones',
      'A feeling for when a page is finished',
    ],
    benefits: [
      'Work beside a designer',
      'Usability sessions with real operators',
      'A component of yours in every product we ship',
    ],
  },
  {
    id: 9,
    slug: 'full-stack-intern',
    title: 'Full Stack Intern',
    department: 'Engineering',
    opened: '2025-04-30',
    closes: '2027-12-31',
    description:
      'Take a feature from the first sketch to the database and back, and be the one who knows how all of it fits. Each feature takes you through the whole house: a talk with a customer, a sketch, a contract between services, an interface, a test that uses it like a person. You keep the map of how things hang together, and mend it where it is wrong. It is the best place here to find out what you like most.',
    requirements: [
      'A small application of yours, running somewhere',
      'SQL, HTTP and one front-end framework',
      'Questions asked early',
    ],
    benefits: [
      'A feature of your own, start to finish',
      'Mentors on both sides of the API',
      'A say in how we build',
    ],
  },
  {
    id: 10,
    slug: 'cloud-engineering-intern',
    title: 'Cloud Engineering Intern',
    department: 'Engineering',
    opened: '2025-04-30',
    closes: '2027-12-31',
    description:
      'Run it all: clusters, edge devices in back rooms, updates that nobody notices, and dashboards that tell the truth. You set up an environment from nothing, by following our own instructions, and correct them where they fail you. Then you take over a part of the running system: its updates, its alarms, its bill. You learn to rehearse a failure before it happens, and to write afterwards what was learned.',
    requirements: [
      'Linux without fear; containers and one cloud, at least tried',
      'Scripts instead of clicks',
      'The wish to know why, after it works again',
    ],
    benefits: [
      'Credits for certification exams',
      'Hands on a real fleet of edge devices',
      'Incident reviews without blame',
    ],
  },
];
