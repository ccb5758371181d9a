import { readSessionRecord, writeSessionRecord } from './session-record.ts';

/**
 * Name of the record that keeps the key and the content of what was last sent to a path, until its response is known: a
 * reload brings the draft back, and it is then sent under the same key.
 */
const RECORD = 'unanswered';

/** Idempotency keys of submissions without a definite response, by path and content. */
const pending = new Map<string, string>();

/** The idempotency key of a submission, the same for the same content until its response is known. */
export function idempotencyKeyOf(path: string, content: string): string {
  const kept = readSessionRecord(RECORD);
  const [key, keptContent] = split(kept[path]);
  const used = pending.get(path + content) ?? (keptContent === content ? key : newIdempotencyKey());
  pending.set(path + content, used);
  writeSessionRecord(RECORD, { ...kept, [path]: used + content });
  return used;
}

/** Ends the use of a key: the same content is another submission from here on. */
export function forgetIdempotencyKey(path: string, content: string): void {
  pending.delete(path + content);
  const { [path]: last, ...others } = readSessionRecord(RECORD);
  if (split(last)[1] === content) {
    writeSessionRecord(RECORD, others);
  }
}

/** A key, and the content that it is of. */
function split(kept = ''): [key: string, content: string] {
  return [kept.slice(0, KEY_LENGTH), kept.slice(KEY_LENGTH)];
}

const KEY_LENGTH = 36;

/** A random UUID of version 8 (RFC 9562, section 5.8): so a key says that it stands for one content alone. */
function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte, at) => {
    const marked = at === 6 ? (byte & 0x0f) | 0x80 : at === 8 ? (byte & 0x3f) | 0x80 : byte;
    return marked.toString(16).padStart(2, '0');
  }).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
