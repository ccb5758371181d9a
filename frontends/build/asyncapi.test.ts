import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DiagnosticSeverity, Parser } from '@asyncapi/parser';
import { expect, test } from 'vitest';

const source = fileURLToPath(new URL('../../docs/events/asyncapi.json', import.meta.url));
const committed = readFileSync(source, 'utf8');

// The parser checks against its whole rule book, which a busy machine takes seconds for.
const TIMEOUT_MS = 60_000;

async function parsed(text: string) {
  const { document, diagnostics } = await new Parser().parse(text, { source });
  const wrong = diagnostics.filter(({ severity }) => severity <= DiagnosticSeverity.Warning);
  return { document, wrong };
}

test('AsyncAPI’s own parser accepts the document and finds every schema that it names', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { document, wrong } = await parsed(committed);
  expect(wrong).toEqual([]);
  const messages = document?.allMessages().all() ?? [];
  expect(messages.length).toBeGreaterThan(0);
  for (const message of messages) {
    expect(message.payload()?.title()).toBe(message.name());
  }
});

test('it does not accept just anything', { timeout: TIMEOUT_MS }, async () => {
  const { wrong } = await parsed(committed.replaceAll('"send"', '"shout"'));
  expect(wrong).not.toEqual([]);
});
