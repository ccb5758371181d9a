import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DiagnosticSeverity, Parser } from '@asyncapi/parser';
import { expect, test } from 'vitest';

const source = fileURLToPath(new URL('../../docs/events/asyncapi.json', import.meta.url));
const committed = readFileSync(source, 'utf8');

// The parser runs all of its rules, which takes seconds on a busy machine.
const TIMEOUT_MS = 60_000;

test('the AsyncAPI parser accepts the document and resolves every schema', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { document, diagnostics } = await new Parser().parse(committed, { source });
  const wrong = diagnostics.filter(({ severity }) => severity <= DiagnosticSeverity.Warning);
  expect(wrong).toEqual([]);
  const messages = document?.allMessages().all() ?? [];
  expect(messages.length).toBeGreaterThan(0);
  for (const message of messages) {
    expect(message.payload()?.title()).toBe(message.name());
  }
});
