/** By the `newsletter` parameter of links in mails. */
export const newsletterPrompts = {
  confirm: {
    title: 'Confirm your subscription',
    question: 'You asked for our newsletter with this address. Shall we send it from now on?',
    button: 'Confirm',
    done: 'Thank you. Your subscription is confirmed; a welcome mail is on its way.',
  },
  unsubscribe: {
    title: 'Unsubscribe',
    question: 'Shall we stop sending you our newsletter?',
    button: 'Unsubscribe',
    done: 'You are unsubscribed. You will get no more newsletters from us.',
  },
} as const;

export type NewsletterAction = keyof typeof newsletterPrompts;

export const newsletterActions = Object.keys(newsletterPrompts) as NewsletterAction[];

export function isNewsletterAction(action: string | null): action is NewsletterAction {
  return action !== null && Object.hasOwn(newsletterPrompts, action);
}
