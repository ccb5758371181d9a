import { brand } from '@site/kit/brand.ts';
import * as paths from '@site/kit/paths.ts';
import {
  BACKUPS_KEPT_DAYS,
  CONFIRM_WITHIN_HOURS,
  collectedFields,
  FORMER_READERS_DAYS,
  NEVER_CONFIRMED_DAYS,
  RESUME_LINK_HOURS,
  recipients,
  retention,
} from '../content/personal-data.ts';
import type { Clause } from '../frame/legal-page.tsx';
import { LegalPage, postalAddress } from '../frame/legal-page.tsx';

const { name, emails } = brand;
const { page, referrer, ...campaign } = collectedFields['attribution.v1.Attribution'];

/** Avoids `Intl.ListFormat`, which blocks the browser for 20 ms. */
function all(things: Record<string, string>): string {
  const words = [...new Set(Object.values(things))];
  const last = words.length - 1;
  return words
    .map((word, index) => (index && index === last ? `and ${word}` : word))
    .join(last > 1 ? ', ' : ' ');
}

const HOURS_OF_DAY = 24;

const clauses: readonly Clause[] = [
  {
    title: '1. Information we collect',
    paragraphs: [
      `Personal data: what you enter in our forms. A contact message holds ${all(collectedFields['contact.v1.ContactForm'])}. A newsletter sign-up holds ${all(collectedFields['newsletter.v1.NewsletterForm'])}. An application holds ${all({ ...collectedFields['careers.v1.ApplicationForm'], ...collectedFields['careers.v1.ResumeStart'] })}.`,
      `Where you come from: each form also sends ${page}, ${referrer}, and the campaign parameters (${all(campaign)}) of the address by which you came, where it has them. A random number goes along, or, where your browser runs no scripts, a number that is computed from what you sent, so that what arrives twice is stored once.`,
      'Usage data: of each request our services log the time, the path, the result and a random number; neither your network address nor your browser. The network address is held in memory for a while, to limit how many forms one address can send; servers that carry our traffic see it, too. A form tells for how long you had it, and while too many forms arrive your browser does a calculation before yours is taken: both against robots, and not kept. Where a part of a page does not load, your browser tells us which part and why.',
      'Counts: our server counts how often each page is loaded, and how many forms are accepted or refused. It keeps the totals alone: no person and no visit can be told from another.',
      'Cookies and analytics: this site sets no cookies and runs no third-party analytics. Your choice of theme and the draft of a form are kept in your own browser.',
    ],
  },
  {
    title: '2. How we use it',
    paragraphs: [
      'To answer your message, to send the newsletter that you confirmed, to consider your application, to learn which of our advertisements bring people here and which pages serve them, and to keep the site running and safe. For nothing else.',
    ],
  },
  {
    title: '3. Disclosure',
    paragraphs: [
      `What you send is read by people, each in their mail and in the tools they work with: ${all(recipients)}. All of it can be seen by the people who run this site.`,
      'We do not sell personal data. Providers who host our systems, carry our mail or run those tools process it on our behalf and under contract. We disclose it where the law requires us to. When what we hold of you is erased, those tools are told, by a code that is computed from your address.',
    ],
  },
  {
    title: '4. Retention',
    paragraphs: [
      `On our systems what a form sent is kept for ${retention.STREAM_MAX_AGE_DAYS} days after it arrived or was last handed on. A résumé is kept as long as the application it came with, or until you ask us to delete it; the link to it in our mails ends after ${RESUME_LINK_HOURS / HOURS_OF_DAY} days. Mails to our staff, and what stands in the tools they work with, are deleted when they are no longer needed for the purpose they were sent for.`,
      `A newsletter sign-up that is not confirmed within ${CONFIRM_WITHIN_HOURS} hours leaves our list of readers; what you sent is kept like any form, for ${retention.STREAM_MAX_AGE_DAYS} days. Once you have confirmed, the list keeps your address, and when, on which page and by which words you signed up; after you have unsubscribed it keeps no address, but a code that is computed from it, with these times and when you left, so that nobody can sign you up unasked and we can show on what ground we wrote to you. Where somebody then signs your address up again and it is not confirmed, the list keeps it for ${FORMER_READERS_DAYS} days. If mails to you come back, because there is no such address or again and again, or are reported as spam, the list keeps the address so that it is not written to again: for ${NEVER_CONFIRMED_DAYS} days where it was never confirmed. All of this is erased when you ask for it; that it was is kept for ${retention.STREAM_MAX_AGE_DAYS} days, under that code alone.`,
      `Backups, which we make in case our systems are lost, hold what was stored at their time and are removed after ${BACKUPS_KEPT_DAYS} days. Should we have to return to one, what was erased since is erased again.`,
    ],
  },
  {
    title: '5. Your rights',
    paragraphs: [
      `You may ask for access to your data, have it corrected or deleted, object to its use, receive it in a portable form, and withdraw a consent at any time. Write to ${emails.admin} from the address that you used; you need not give a reason. We send you everything that is stored under it as files, or erase it from our systems and confirm that nothing is left there; backups that still hold it are removed as said above. You may also complain to your supervisory authority.`,
    ],
  },
  {
    title: '6. Children',
    paragraphs: [
      'This site is not meant for children under 16, and we do not knowingly collect data about them. If a child has sent us something, tell us and we delete it.',
    ],
  },
  {
    title: '7. Security',
    paragraphs: [
      'Data is encrypted on its way and access to it is limited to the people whose work needs it. No system is perfectly safe; should yours be affected by an incident, we tell you.',
    ],
  },
  {
    title: '8. Changes to this policy',
    paragraphs: [
      'When this policy changes, the date at its top changes with it. A change that matters is announced on this page before it takes effect.',
    ],
  },
  {
    title: '9. Contact',
    paragraphs: [`${postalAddress}. E-mail: ${emails.admin}.`],
  },
];

/** `/privacy` */
export default function Privacy() {
  return (
    <LegalPage
      title="Privacy Policy"
      description={`What ${name} keeps about visitors of this site, why, and for how long.`}
      path={paths.privacy}
      icon="shield"
      clauses={clauses}
    />
  );
}
