/** The largest résumé that is taken, in bytes. */
export const LARGEST = 10 * 1024 * 1024;
/** What the file picker offers. */
export const ACCEPTED = '.pdf,.doc,.docx';

const NOT_A_RESUME = 'Choose a PDF, DOC or DOCX file.';
const TOO_LARGE = 'The file is larger than 10 MiB. Choose a smaller one.';
const EMPTY = 'The file is empty. Choose another one.';

/** How PDF, DOC and DOCX files begin. */
const STARTS = [
  [0x25, 0x50, 0x44, 0x46, 0x2d],
  [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1],
  [0x50, 0x4b, 0x03, 0x04],
];

/**
 * What is wrong with a résumé, in a sentence; nothing, where it may be sent. The server looks closer:
 * this spares a visitor an upload in vain.
 */
export async function faultOf(file: Blob): Promise<string | undefined> {
  if (file.size === 0) {
    return EMPTY;
  }
  if (file.size > LARGEST) {
    return TOO_LARGE;
  }
  const longest = Math.max(...STARTS.map(start => start.length));
  const first = new Uint8Array(await file.slice(0, longest).arrayBuffer());
  const isKnown = STARTS.some(start => start.every((byte, at) => first[at] === byte));
  return isKnown ? undefined : NOT_A_RESUME;
}

/** A size as people say it. */
export function sizeOf(bytes: number): string {
  const megabytes = bytes / 1024 / 1024;
  return megabytes < 0.1 ? `${Math.ceil(bytes / 1024)} KiB` : `${megabytes.toFixed(1)} MiB`;
}
