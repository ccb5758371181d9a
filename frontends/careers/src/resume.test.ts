import { expect, test } from 'vitest';
import { formatBytes, MAX_RESUME_BYTES, resumeErrorOf } from './resume.ts';

const pdf = (size: number) => new Blob(['%PDF-1.7\n', new Uint8Array(size - 9)]);

const compound = (stream: string) =>
  new Blob([
    new Uint8Array([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]),
    Array.from(stream).join('\0'),
  ]);
const archive = (entry: string) => new Blob(['PK\x03\x04', entry]);

test.each([
  ['a PDF', new Blob(['%PDF-1.4 …'])],
  ['a PDF that begins a little later', new Blob(['\n\n%PDF-1.4 …'])],
  ['a DOC', compound('WordDocument')],
  ['a DOCX', archive('word/document.xml')],
  ['the largest', pdf(MAX_RESUME_BYTES)],
])('%s may be sent', async (_, file) => {
  expect(await resumeErrorOf(file)).toBeUndefined();
});

test.each([
  ['one byte too many', pdf(MAX_RESUME_BYTES + 1), 'larger than 10 MiB'],
  ['nothing in it', new Blob([]), 'empty'],
  ['a text that is called a PDF', new File(['Dear all'], 'resume.pdf'), 'PDF, DOC or DOCX'],
  ['a workbook', archive('xl/workbook.xml'), 'PDF, DOC or DOCX'],
  ['an old workbook', compound('Workbook'), 'PDF, DOC or DOCX'],
  ['fewer bytes than a type has', new Blob(['%P']), 'PDF, DOC or DOCX'],
])('%s is refused with a sentence', async (_, file, sentence) => {
  expect(await resumeErrorOf(file)).toContain(sentence);
});

test('sizes are told as people say them', () => {
  expect(formatBytes(1)).toBe('1 KiB');
  expect(formatBytes(5 * 1024 * 1024)).toBe('5.0 MiB');
});
