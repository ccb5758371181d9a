import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
/** What the front ends are built from. */
const SOURCES = ['frontends', 'brand.json', 'package.json', 'package-lock.json'];
const NOT_SOURCES = /\/(node_modules|dist)(\/|\.|$)/;

/** A copy of the front ends' sources that a test may change and build. */
export interface Checkout {
  folder: string;
  remove: () => void;
}

/** Copies the front ends' sources; what they depend on is shared. */
export function checkout(): Checkout {
  const folder = mkdtempSync(join(tmpdir(), 'site-'));
  for (const name of SOURCES) {
    cpSync(join(root, name), join(folder, name), {
      recursive: true,
      filter: file => !NOT_SOURCES.test(file.slice(root.length)),
    });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}
