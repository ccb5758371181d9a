export const MAX_RESUME_BYTES = 10 * 1024 * 1024;
export const ACCEPTED = '.pdf,.doc,.docx';

const WRONG_ENDING = 'Choose a PDF, DOC or DOCX file whose name ends in .pdf, .doc or .docx.';
const TOO_LARGE = 'The file is larger than 10 MiB. Choose a smaller one.';
const EMPTY = 'The file is empty. Choose another one.';
const PROTECTED =
  'The file is protected by a password, so nobody here can open it. Save it without one, and choose that.';
const UNREADABLE = 'The file cannot be read. Choose it again.';

const KINDS = ['pdf', 'doc', 'docx'] as const;
type Kind = (typeof KINDS)[number];

/** Signatures in content decoded as Latin-1. */
const FILE_SIGNATURES: Record<Kind, (content: string) => boolean> = {
  // Servers and printers may put text before the header. A script, a program or an archive is refused.
  pdf: content =>
    /%PDF-\d/.test(content.slice(0, 1024)) &&
    !/^([@<]|#!|MZ|PK)/.test(withoutWhiteSpaceBefore(content)),
  doc: content => isCompoundFileWith(content, 'WordDocument'),
  // A ZIP archive (Office Open XML) that lists its content types.
  docx: content =>
    withoutWhiteSpaceBefore(content).startsWith('PK\x03\x04') &&
    /\[Content_Types\]\.xml/i.test(content),
};

/** Download scripts may put a byte order mark and white space before a file. */
function withoutWhiteSpaceBefore(content: string): string {
  return content.replace(/^\xef\xbb\xbf/, '').trimStart();
}

/** A compound file (MS-CFB) has its streams' names in UTF-16. */
function isCompoundFileWith(content: string, name: string): boolean {
  return (
    content.startsWith('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1') &&
    content.includes(Array.from(name).join('\0'))
  );
}

/**
 * Error message for a file, undefined if the file is valid. Spares the visitor a useless upload. The server
 * checks more closely.
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
    if (kind !== 'pdf' && isCompoundFileWith(content, 'EncryptedPackage')) {
      return PROTECTED;
    }
    return FILE_SIGNATURES[kind](content)
      ? undefined
      : `The file is called a ${kind.toUpperCase()}, but it is none, or is damaged. Choose another one.`;
  } catch {
    // The file was moved, or its disk was removed.
    return UNREADABLE;
  }
}

/** Ignores dots, spaces and format characters after the extension. */
function kindOf(name: string): Kind | undefined {
  const ending = /\.(\w+)[.\s\p{Cf}]*$/u.exec(name)?.[1]?.toLowerCase();
  return KINDS.find(kind => kind === ending);
}

export function formatBytes(bytes: number): string {
  const mebibytes = bytes / 1024 / 1024;
  return mebibytes < 0.1 ? `${Math.ceil(bytes / 1024)} KiB` : `${mebibytes.toFixed(1)} MiB`;
}
