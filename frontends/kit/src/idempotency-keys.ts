/** Idempotency keys of submissions without a definite response, by content. */
const pending = new Map<string, string>();

/** The idempotency key of a submission, the same for the same content until its response is known. */
export function idempotencyKeyOf(content: string): string {
  const key = pending.get(content) ?? newIdempotencyKey();
  pending.set(content, key);
  return key;
}

/** Ends the use of a key: the same content is another submission from here on. */
export function forgetIdempotencyKey(content: string): void {
  pending.delete(content);
}

/** A random UUID of version 8 (RFC 9562, section 5.8): so a key says that it stands for one content alone. */
function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte, at) => {
    const marked = at === 6 ? (byte & 0x0f) | 0x80 : at === 8 ? (byte & 0x3f) | 0x80 : byte;
    return marked.toString(16).padStart(2, '0');
  }).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
