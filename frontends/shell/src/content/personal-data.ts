/** In the words of the privacy policy, by the fields of `proto/`. A test fails if a field is missing here. */
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

/** By event type. A test compares the types with `docs/events`. */
export const recipients = {
  'contact.received': 'contact messages by our sales staff',
  'careers.applied': 'applications by those who recruit',
  'newsletter.requested': NEWSLETTER,
  'newsletter.confirmed': NEWSLETTER,
  'newsletter.unsubscribed': NEWSLETTER,
  'newsletter.bounced': NEWSLETTER,
} as const;

/** By setting. A test compares them with the defaults in `docs/operations.md`. */
export const retention = {
  STREAM_MAX_AGE_DAYS: 365,
} as const;

/** Set by `services/newsletter`. */
export const CONFIRM_WITHIN_HOURS = 48;

/** Set by `services/notifier`. */
export const RESUME_LINK_HOURS = 168;

/** Must match `BACKUP_KEEP_DAYS` of the job and the volume command in `docs/operations.md`. */
export const BACKUPS_KEPT_DAYS = 30;

/** Suppression of an address that never confirmed (`crates/subscribers`). */
export const NEVER_CONFIRMED_DAYS = 90;

/** Retention after a former reader's new, unconfirmed sign-up (`crates/subscribers`). */
export const FORMER_READERS_DAYS = 30;
