/** The largest résumé that is taken. */
export const MAX_RESUME_BYTES = 10 * 1024 * 1024;
/** File types that the file picker offers (`accept`). */
export const ACCEPTED = '.pdf,.doc,.docx';

const WRONG_ENDING = 'Choose a PDF, DOC or DOCX file whose name ends in .pdf, .doc or .docx.';
const TOO_LARGE = 'The file is larger than 10 MiB. Choose a smaller one.';
const EMPTY = 'The file is empty. Choose another one.';
const UNREADABLE = 'The file cannot be read. Choose it again.';

const KINDS = ['pdf', 'doc', 'docx'] as const;
type Kind = (typeof KINDS)[number];

/** File signatures (magic numbers), in a file's bytes as Latin-1. */
const FILE_SIGNATURES: Record<Kind, (content: string) => boolean> = {
  // Scripts that hand files out leave a byte order mark or white space before the header.
  pdf: content => /^(\xef\xbb\xbf)?\s*%PDF-\d\.\d/.test(content.slice(0, 1024)),
  // A compound file with Word's stream, whose name is in UTF-16.
  doc: content =>
    content.startsWith('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1') &&
    content.includes(Array.from('WordDocument').join('\0')),
  // An archive with a word processor's document.
  docx: content => content.startsWith('PK\x03\x04') && content.includes('word/document'),
};

/**
 * Validation error of a résumé, in a sentence; nothing, where it may be sent. The server looks closer:
 * this spares a visitor an upload in vain.
 */
export async function resumeErrorOf(file: File): Promise<string | undefined> {
  if (file.size === 0) {
    return EMPTY;
  }
  if (file.size > MAX_RESUME_BYTES) {
    return TOO_LARGE;
  }
  const kind = kindOf(file.name);
  if (!kind) {
    return WRONG_ENDING;
  }
  try {
    const content = new TextDecoder('latin1').decode(await file.arrayBuffer());
    return FILE_SIGNATURES[kind](content)
      ? undefined
      : `The file is called a ${kind.toUpperCase()}, but it is none, or is damaged. Choose another one.`;
  } catch {
    // It was moved, or its disk is gone.
    return UNREADABLE;
  }
}

/** What the last ending of a name says; what nobody sees behind it does not count. */
function kindOf(name: string): Kind | undefined {
  const ending = /\.(\w+)[.\s\p{Cf}]*$/u.exec(name)?.[1]?.toLowerCase();
  return KINDS.find(kind => kind === ending);
}

/** A size as people say it. */
export function formatBytes(bytes: number): string {
  const mebibytes = bytes / 1024 / 1024;
  return mebibytes < 0.1 ? `${Math.ceil(bytes / 1024)} KiB` : `${mebibytes.toFixed(1)} MiB`;
}
