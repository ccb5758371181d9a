import { expect, test } from 'vitest';
import { formatBytes, MAX_RESUME_BYTES, resumeErrorOf } from './resume.ts';

const file = (name: string, ...content: BlobPart[]) => new File(content, name);

const pdf = (size: number) => file('cv.pdf', '%PDF-1.7\n', new Uint8Array(size - 9));

const compound = (stream: string) =>
  file(
    'cv.doc',
    new Uint8Array([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]),
    Array.from(stream).join('\0'),
  );
const archive = (...entries: string[]) =>
  file('cv.docx', 'PK\x03\x04', '[Content_Types].xml', ...entries);

test.each([
  ['a PDF', file('cv.pdf', '%PDF-1.4 …')],
  ['a PDF with an upper-case extension', file('Résumé (final).v2.PDF', '%PDF-1.4 …')],
  ['a PDF after a byte order mark', file('cv.pdf', '\ufeff\r\n%PDF-1.4 …')],
  ['a PDF with format characters after its name', file('cv.pdf\u200e ', '%PDF-1.4 …')],
  ['a DOC', compound('WordDocument')],
  ['a DOCX', archive('word/document.xml')],
  ['a DOCX with backslashes in its names', archive('word\\document.xml')],
  ['a DOCX after a blank line', file('cv.docx', '\r\nPK\x03\x04', '[content_types].xml')],
  ['a PDF after HTTP headers', file('cv.pdf', 'Content-Type: application/pdf\r\n\r\n%PDF-1.4 …')],
  ['the largest file', pdf(MAX_RESUME_BYTES)],
])('%s is accepted', async (_, file) => {
  expect(await resumeErrorOf(file)).toBeUndefined();
});

test.each([
  ['one byte too many', pdf(MAX_RESUME_BYTES + 1), 'larger than 10 MiB'],
  ['an empty file', file('cv.pdf'), 'empty'],
  ['a text file named .pdf', file('resume.pdf', 'Dear all'), 'called a PDF'],
  ['a script that mentions a PDF', file('cv.pdf', '@echo off\nrem %PDF-1.4'), 'called a PDF'],
  ['a PDF named .exe', file('cv.pdf.exe', '%PDF-1.4 …'), 'ends in .pdf'],
  ['a PDF without an extension', file('cv', '%PDF-1.4 …'), 'ends in .pdf'],
  ['a PDF named .doc', file('cv.doc', '%PDF-1.4 …'), 'called a DOC,'],
  ['a ZIP archive named .docx', file('cv.docx', 'PK\x03\x04', 'run.bat'), 'called a DOCX'],
  [
    'a DOCX with a password',
    new File([compound('EncryptedPackage')], 'cv.docx'),
    'protected by a password',
  ],
  ['a DOC with a password', compound('EncryptedPackage'), 'protected by a password'],
  ['HTML that mentions a PDF', file('cv.pdf', '\n<p>%PDF-1.4'), 'called a PDF'],
  ['an old Excel workbook', compound('Workbook'), 'called a DOC,'],
  ['a file shorter than its signature', file('cv.pdf', '%P'), 'called a PDF'],
])('%s is refused with a message', async (_, file, sentence) => {
  expect(await resumeErrorOf(file)).toContain(sentence);
});

test('sizes are formatted in KiB and MiB', () => {
  expect(formatBytes(1)).toBe('1 KiB');
  expect(formatBytes(5 * 1024 * 1024)).toBe('5.0 MiB');
});
