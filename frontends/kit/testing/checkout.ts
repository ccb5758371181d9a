import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
const SOURCES = [
  'frontends',
  'brand.json',
  'package.json',
  'package-lock.json',
  'tsconfig.base.json',
];
const NOT_SOURCES = /\/(node_modules|dist)(\/|\.|$)/;
/** npm scope of our packages. */
const OURS = '@site';

/** A copy of the front ends' sources that a test may change and build. */
export interface Checkout {
  folder: string;
  remove: () => void;
}

/**
 * Copies the front ends' sources and links their dependencies. `replaced` maps a package to its replacement.
 */
export function checkout(replaced: Readonly<Record<string, string>> = {}): Checkout {
  const folder = mkdtempSync(join(tmpdir(), 'site-'));
  for (const name of SOURCES) {
    cpSync(join(root, name), join(folder, name), {
      recursive: true,
      filter: file => !NOT_SOURCES.test(file.slice(root.length)),
    });
  }
  const packages = join(folder, 'node_modules');
  mkdirSync(join(packages, OURS), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules')).filter(name => name !== OURS)) {
    symlinkSync(join(root, 'node_modules', replaced[name] ?? name), join(packages, name));
  }
  for (const name of readdirSync(join(root, 'node_modules', OURS))) {
    symlinkSync(join(folder, 'frontends', name), join(packages, OURS, name));
    // Dependencies that npm could not hoist, because the root has another version.
    const own = join(root, 'frontends', name, 'node_modules');
    if (existsSync(own)) {
      symlinkSync(own, join(folder, 'frontends', name, 'node_modules'));
    }
  }
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}
