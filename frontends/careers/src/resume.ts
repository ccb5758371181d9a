/** The largest résumé that is taken. */
export const MAX_RESUME_BYTES = 10 * 1024 * 1024;
/** File types that the file picker offers (`accept`). */
export const ACCEPTED = '.pdf,.doc,.docx';

const NOT_A_RESUME = 'Choose a PDF, DOC or DOCX file.';
const TOO_LARGE = 'The file is larger than 10 MiB. Choose a smaller one.';
const EMPTY = 'The file is empty. Choose another one.';
const UNREADABLE = 'The file cannot be read. Choose it again.';

/** File signatures (magic numbers) of PDF, DOC and DOCX. */
const FILE_SIGNATURES = [
  // A header may come a little later (ISO 32000-1, annex H, implementation note 13).
  (content: string) => content.slice(0, 1024 + 5).includes('%PDF-'),
  // A compound file with Word's stream, whose name is in UTF-16.
  (content: string) =>
    content.startsWith('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1') &&
    content.includes(Array.from('WordDocument').join('\0')),
  // An archive with a word processor's document.
  (content: string) => content.startsWith('PK\x03\x04') && content.includes('word/document.xml'),
];

/**
 * Validation error of a résumé, in a sentence; nothing, where it may be sent. The server looks closer:
 * this spares a visitor an upload in vain.
 */
export async function resumeErrorOf(file: Blob): Promise<string | undefined> {
  if (file.size === 0) {
    return EMPTY;
  }
  if (file.size > MAX_RESUME_BYTES) {
    return TOO_LARGE;
  }
  try {
    const content = new TextDecoder('latin1').decode(await file.arrayBuffer());
    return FILE_SIGNATURES.some(matches => matches(content)) ? undefined : NOT_A_RESUME;
  } catch {
    // It was moved, or its disk is gone.
    return UNREADABLE;
  }
}

/** A size as people say it. */
export function formatBytes(bytes: number): string {
  const mebibytes = bytes / 1024 / 1024;
  return mebibytes < 0.1 ? `${Math.ceil(bytes / 1024)} KiB` : `${mebibytes.toFixed(1)} MiB`;
}
