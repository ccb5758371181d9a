import { readSessionRecord, writeSessionRecord } from './session-record.ts';

/**
 * Session record of the last key and content per path, until the response is known. A reload restores the
 * draft of a form, and the record restores its key.
 */
const RECORD = 'unanswered';

/** Keys of submissions without a final response, by path and content. */
const pending = new Map<string, string>();

/** Key of a submission. The same content keeps its key until a final response. */
export function idempotencyKeyOf(path: string, content: string): string {
  const kept = readSessionRecord(RECORD);
  const [key, keptContent] = split(kept[path]);
  const used = pending.get(path + content) ?? (keptContent === content ? key : newIdempotencyKey());
  pending.set(path + content, used);
  writeSessionRecord(RECORD, { ...kept, [path]: used + content });
  return used;
}

/** Forgets a key after a final response. The same content is then a new submission. */
export function forgetIdempotencyKey(path: string, content: string): void {
  pending.delete(path + content);
  const { [path]: last, ...others } = readSessionRecord(RECORD);
  if (split(last)[1] === content) {
    writeSessionRecord(RECORD, others);
  }
}

function split(kept = ''): [key: string, content: string] {
  return [kept.slice(0, KEY_LENGTH), kept.slice(KEY_LENGTH)];
}

const KEY_LENGTH = 36;

/** Random UUID. Version 8 (RFC 9562, section 5.8) promises the server a new key for other content. */
function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte, at) => {
    const marked = at === 6 ? (byte & 0x0f) | 0x80 : at === 8 ? (byte & 0x3f) | 0x80 : byte;
    return marked.toString(16).padStart(2, '0');
  }).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
