import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const TEXT = /\.(html|js|mjs|css|svg|json|txt|xml|vtt|webmanifest)$/;
/** Compressing a smaller file saves less than the extra headers cost. */
const MIN_COMPRESSED_BYTES = 256;

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

/** Writes Brotli and gzip variants of the text files that were modified since `sinceMs`. */
export async function compressIn(folder: string, sinceMs = 0): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter(entry => entry.isFile() && TEXT.test(entry.name));
  await Promise.all(files.map(entry => compress(join(entry.parentPath, entry.name), sinceMs)));
}

async function compress(file: string, sinceMs: number) {
  if ((await stat(file)).mtimeMs < sinceMs) {
    return;
  }
  const text = await readFile(file);
  if (text.length < MIN_COMPRESSED_BYTES || file.endsWith('_routes.json')) {
    return;
  }
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  await Promise.all([
    brotli(text, { params }).then(smaller => writeFile(`${file}.br`, smaller)),
    zip(text, { level: constants.Z_BEST_COMPRESSION }).then(smaller =>
      writeFile(`${file}.gz`, smaller),
    ),
  ]);
}
