/**
 * Fields that forms collect, in the words of the privacy policy, by the fields of the contracts in `proto/`. A test
 * holds it against them: a field that is added is told of, or the test fails.
 */
export const collectedFields = {
  'attribution.v1.Attribution': {
    page: 'the path of the page with the form',
    referrer:
      'the address of the page of another site that led you here, as far as your browser tells it',
    utm_source: 'utm_source',
    utm_medium: 'utm_medium',
    utm_campaign: 'utm_campaign',
    utm_term: 'utm_term',
    utm_content: 'utm_content',
  },
  'contact.v1.ContactForm': {
    name: 'your name',
    email: 'your e-mail address',
    message: 'your message',
    company: 'your company, if you add it',
    phone: 'your phone number, if you add it',
  },
  'newsletter.v1.NewsletterForm': {
    email: 'your e-mail address',
  },
  'careers.v1.ApplicationForm': {
    name: 'your name',
    email: 'your e-mail address',
    phone: 'your phone number',
    position: 'the position you apply for',
    experience: 'your years of experience',
    cover_letter: 'your cover letter',
  },
  'careers.v1.ResumeStart': {
    file_name: 'your résumé and the name of its file',
  },
} as const;

const NEWSLETTER = 'newsletter addresses by those who send the newsletter';

/**
 * Recipients of what was sent, by the types of events that mails and webhooks hand on. A test holds it against `docs/events`.
 */
export const recipients = {
  'contact.received': 'contact messages by our sales staff',
  'careers.applied': 'applications by those who recruit',
  'newsletter.requested': NEWSLETTER,
  'newsletter.confirmed': NEWSLETTER,
  'newsletter.unsubscribed': NEWSLETTER,
  'newsletter.bounced': NEWSLETTER,
} as const;

/** Retention periods of what was sent, by the settings whose defaults say so (`docs/operations.md`). */
export const retention = {
  STREAM_MAX_AGE_DAYS: 365,
} as const;

/** Time within which a sign-up must be confirmed (`services/newsletter`). */
export const CONFIRM_WITHIN_HOURS = 48;

/** Lifetime of a link to a résumé (`services/notifier`). */
export const RESUME_LINK_HOURS = 168;

/** Retention period of a backup: `BACKUP_KEEP_DAYS` of the job, and the command of `docs/operations.md` for a volume. */
export const BACKUPS_KEPT_DAYS = 30;

/** Retention period of an address that does not exist and that nobody confirmed (`crates/subscribers`). */
export const NEVER_CONFIRMED_DAYS = 90;

/** Retention period of the address of somebody who had left and was signed up again, unconfirmed (`crates/subscribers`). */
export const FORMER_READERS_DAYS = 30;
