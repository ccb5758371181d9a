import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mailTo, uniqueEmail } from '../../../kit/testing/inbox.ts';
import { ENGINES } from './engines.ts';
import type { Visitor } from './visitor.ts';
import { visitorsOf } from './visitor.ts';

const SALES = 'sales@oculant.example';
const RECRUITERS = 'recruiters@oculant.example';

describe.each(ENGINES)('$name', engine => {
  const visitor = visitorsOf(engine);

  test('a message reaches sales and is acknowledged', async () => {
    const { open, the, reads, stack } = visitor();
    const email = uniqueEmail('asha');
    await open('/contact');
    await write(visitor(), {
      'Full Name': 'Asha Rao',
      'Email Address': email,
      'Your Message': 'Two shops. “How soon?”',
    });
    await (await the('button', 'Send Message')).click();
    await reads('Message Sent Successfully!');
    const lead = await mailTo(stack, SALES, email);
    expect(lead.text).toContain('“How soon?”');
    await mailTo(stack, email, 'Asha');
  });

  test('server errors stand beside the field and the form', async () => {
    const { open, the, reads, evaluate, proxy } = visitor();
    await open('/contact');
    await write(visitor(), {
      'Full Name': '   ',
      'Email Address': uniqueEmail(),
      'Your Message': 'Hello',
    });
    await (await the('button', 'Send Message')).click();
    await the('alert', '');
    await reads('Please check the marked fields.');
    await expect
      .poll(() =>
        evaluate(() => document.querySelector('[aria-invalid=true]')?.getAttribute('name')),
      )
      .toBe('name');
    expect(proxy.errors.splice(0)).toEqual(['422 /api/contact', 'Please check the marked fields.']);
  });

  test('a newsletter sign-up is confirmed and welcomed', async () => {
    const { open, the, reads, stack } = visitor();
    const email = uniqueEmail('reader');
    await open('/blog');
    await write(visitor(), { 'Email Address': email });
    await (await the('button', 'Subscribe')).click();
    await reads('Thank you for subscribing!');

    const { text } = await mailTo(stack, email, 'newsletter=confirm');
    const link = text.match(/https?:\/\/\S+newsletter=confirm\S*/)?.[0] ?? 'no link';
    await open(`/${new URL(link).search}`);
    await (await the('button', 'Confirm')).click();
    await reads('Your subscription is confirmed');
    await mailTo(stack, email, 'newsletter=unsubscribe');
  });

  test('an application and its résumé reach the recruiters unchanged', async () => {
    const { open, the, reads, stack, tab } = visitor();
    const email = uniqueEmail('ravi');
    const resume = Buffer.concat([
      Buffer.from('%PDF-1.7\n'),
      randomBytes(1024 * 1024),
      Buffer.from('\nstartxref\n0\n%%EOF\n'),
    ]);
    const folder = mkdtempSync(join(tmpdir(), 'resume-'));
    const file = join(folder, 'Ravi – résumé.pdf');
    writeFileSync(file, resume);
    await open('/careers');
    await (await the('link', 'Apply Now')).click();
    await write(visitor(), {
      Position: 'AI Intern',
      'Full Name': 'Ravi Kumar',
      Email: email,
      'Cover Letter': 'I count people for fun.',
    });
    await (await tab.find("document.querySelector('dialog[open] input[type=file]')"))?.attach(file);
    await reads('Ravi – résumé.pdf');
    await (await the('button', 'Submit Application')).click();
    await reads('Application Submitted!');
    rmSync(folder, { recursive: true });

    const { text } = await mailTo(stack, RECRUITERS, email);
    expect(text).toContain(createHash('sha256').update(resume).digest('hex'));
    const answer = await fetch(text.match(/https?:\/\/\S+resumes\S+/)?.[0] ?? 'no link');
    expect(Buffer.from(await answer.arrayBuffer()).equals(resume)).toBe(true);
    await mailTo(stack, email, 'résumé.pdf');
  });

  test('a refused form shows the error and keeps its input', async () => {
    const { open, the, reads, proxy, evaluate } = visitor();
    proxy.refuse('/api/contact', 503, 'We cannot take messages right now.');
    await open('/contact');
    await write(visitor(), {
      'Full Name': 'Asha Rao',
      'Email Address': uniqueEmail(),
      'Your Message': 'Hello',
    });
    await (await the('button', 'Send Message')).click();
    await reads('We cannot take messages right now.');
    expect(await evaluate(() => document.querySelector('textarea')?.value)).toBe('Hello');
    expect(proxy.errors.splice(0)).toEqual(['We cannot take messages right now.']);
  });
});

async function write({ the }: Visitor, fields: Readonly<Record<string, string>>) {
  for (const [label, words] of Object.entries(fields)) {
    await (await the('textbox', label)).type(words);
  }
}
