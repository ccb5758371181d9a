import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { collectedFields, recipients, retention } from './personal-data.ts';

/** https://protobuf.com/docs/descriptors */
interface Descriptors {
  file: {
    package: string;
    messageType?: { name: string; field?: { name: string }[] }[];
  }[];
}

const NOT_PERSONAL = [
  'contact.v1.ContactForm.attribution',
  'contact.v1.ContactForm.website',
  'contact.v1.SubmitRequest.form',
  'contact.v1.SubmitRequest.idempotency_key',
  'contact.v1.SubmitRequest.synthetic_mark',
  'contact.v1.SubmitResponse.event_id',
  'contact.v1.SubmitResponse.synthetic',
  'newsletter.v1.NewsletterForm.attribution',
  'newsletter.v1.NewsletterForm.website',
  'newsletter.v1.SubscribeRequest.form',
  'newsletter.v1.SubscribeRequest.idempotency_key',
  'newsletter.v1.ConfirmRequest.token',
  'newsletter.v1.UnsubscribeRequest.token',
  'careers.v1.ApplicationForm.attribution',
  'careers.v1.ApplicationForm.website',
  'careers.v1.ApplyRequest.resume_start',
  'careers.v1.ApplyRequest.resume_chunk',
  'careers.v1.ApplyRequest.commit',
  'careers.v1.Commit.form',
  'careers.v1.Commit.idempotency_key',
  'careers.v1.ApplyResponse.event_id',
];

function fieldsOfContracts(): string[] {
  const json = execFileSync('node_modules/.bin/buf', ['build', '--output', '-#format=json']);
  const { file }: Descriptors = JSON.parse(String(json));
  return file.flatMap(({ package: name, messageType = [] }) =>
    messageType.flatMap(message =>
      (message.field ?? []).map(field => `${name}.${message.name}.${field.name}`),
    ),
  );
}

test('every field of the contracts is told of in the privacy policy, and no other', () => {
  const toldOf = Object.entries(collectedFields).flatMap(([message, fields]) =>
    Object.keys(fields).map(field => `${message}.${field}`),
  );
  expect([...toldOf, ...NOT_PERSONAL].sort()).toEqual(fieldsOfContracts().sort());
});

/** Event types without personal data: issues come from the operator, and erasures hold only a code. */
const NOT_SENT = ['newsletter.issue-requested', 'person.erased'];

test('who reads it is told of every type of event that is handed on, and of no other', () => {
  const types = readdirSync('docs/events').map(name => /^site\.(.+)\.v\d+\./.exec(name)?.[1]);
  const known = [...Object.keys(recipients), ...NOT_SENT].sort();
  expect(known).toEqual(Array.from(new Set(types.filter(Boolean))).sort());
});

const operations = readFileSync('docs/operations.md', 'utf8');

test.each(Object.entries(retention))('%s is %i by default', (setting, value) => {
  const row = operations.split('\n').find(line => line.startsWith(`| \`${setting}\` |`));
  expect(row?.split(' | ')[2]).toBe(`\`${value}\``);
});
