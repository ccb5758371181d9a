import { brand } from '@site/kit/brand.ts';
import type { Clause } from '../frame/legal-page.tsx';
import { LegalPage, postalAddress } from '../frame/legal-page.tsx';

const { name, emails } = brand;

const clauses: readonly Clause[] = [
  {
    title: '1. Information we collect',
    paragraphs: [
      'Personal data: what you type into our forms. A contact message has your name, your e-mail address and your words; a newsletter sign-up has your e-mail address; an application has your name, e-mail address, phone number, experience, cover letter and résumé.',
      'Usage data: the address of the page asked for, the time, the kind of browser and the network address, kept in short-lived server logs.',
      'Cookies and analytics: this site sets no cookies and runs no third-party analytics. Your choice of theme and the draft of a form are kept in your own browser.',
    ],
  },
  {
    title: '2. How we use it',
    paragraphs: [
      'To answer your message, to send the newsletter that you confirmed, to consider your application, and to keep the site running and safe. For nothing else.',
    ],
  },
  {
    title: '3. Disclosure',
    paragraphs: [
      'We do not sell personal data. Providers who host our systems or carry our mail process it on our behalf and under contract. We disclose it where the law requires us to.',
    ],
  },
  {
    title: '4. Retention',
    paragraphs: [
      'Messages and applications are deleted when they are no longer needed for the purpose they were sent for. A newsletter address is kept until you unsubscribe; afterwards only the fact that it must not be written to.',
    ],
  },
  {
    title: '5. Your rights',
    paragraphs: [
      `You may ask for access to your data, have it corrected or deleted, object to its use, receive it in a portable form, and withdraw a consent at any time. Write to ${emails.admin}; you need not give a reason. You may also complain to your supervisory authority.`,
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
      path="/privacy"
      icon="shield"
      clauses={clauses}
    />
  );
}
