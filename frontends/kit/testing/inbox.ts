import { setTimeout } from 'node:timers/promises';
import { randomClientIp } from './random-client-ip.ts';
import type { RunningStack } from './running-stack.ts';

const ARRIVAL_TIMEOUT_MS = 20_000;
const POLL_INTERVAL_MS = 100;

export interface Mail {
  id: string;
  subject: string;
  text: string;
  html: string;
  to: { address: string; name: string }[];
  headers: Record<string, string>;
}

export function uniqueEmail(name = 'visitor'): string {
  return `${name}-${crypto.randomUUID().slice(0, 8)}@example.com`;
}

/** Waits for the first mail to an address that contains a text. */
export async function mailTo(stack: RunningStack, address: string, text: string): Promise<Mail> {
  const end = Date.now() + ARRIVAL_TIMEOUT_MS;
  while (Date.now() < end) {
    const [found] = await mailsTo(stack, address, text);
    if (found) {
      return found;
    }
    await setTimeout(POLL_INTERVAL_MS);
  }
  throw new Error(`There is no mail to ${address} with "${text}"`);
}

/** Mails to an address that contain a text and have already arrived. */
export async function mailsTo(
  { inbox }: RunningStack,
  address: string,
  text: string,
): Promise<Mail[]> {
  const all: Mail[] = await (await fetch(`${inbox.web}/email`)).json();
  return all.filter(
    mail => mail.to.some(to => to.address === address) && JSON.stringify(mail).includes(text),
  );
}

/** Sends one more mail and waits for it. By then earlier mails have arrived. */
export async function untilDrained(stack: RunningStack): Promise<void> {
  const email = uniqueEmail('later');
  const sent = await fetch(`${stack.site}/api/contact`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': randomClientIp() },
    body: JSON.stringify({ name: 'Later', email, message: 'Sent after what is counted' }),
  });
  if (!sent.ok) {
    throw new Error(`What was sent later was answered ${sent.status}`);
  }
  await mailTo(stack, email, 'Later');
}

/** Link of a newsletter mail, with the stack under test in place of the site's public URL. */
export function newsletterLink(
  { text }: Mail,
  action: 'confirm' | 'unsubscribe',
  site: string,
): string {
  const link = text.match(/https?:\/\/\S+/g)?.find(url => url.includes(`newsletter=${action}`));
  const { search } = new URL(link ?? 'missing:');
  return `${site}/${search}`;
}
