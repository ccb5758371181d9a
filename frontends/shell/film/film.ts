import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { CHROMIUM } from '../../build/chromium.ts';
import { frontends, root } from '../../build/file-paths.ts';
import { declared } from '../../kit/drawing/tokens.ts';
import { shop } from '../scenes/shop.ts';
import { detectionOf, placeOf } from '../src/scenes/actors.ts';
import { actors, LENGTH_SECONDS, lines } from './story.ts';

// `npm run film` renders the promotional film from our own scene, frame by frame. Needs ffmpeg.

const FRAMES_PER_SECOND = 25;
const SIZE = { width: 1200, height: 675 };
const folder = join(frontends, 'shell/src/film');

const font = (name: string) =>
  readFileSync(
    join(root, `node_modules/@fontsource-variable/${name}/files/${name}-latin-wght-normal.woff2`),
  ).toString('base64');
const style = [
  `:root { ${declared('dark')}; color-scheme: dark }`,
  `@font-face { font-family: Geist; src: url(data:font/woff2;base64,${font('geist')}); font-weight: 100 900 }`,
  `@font-face { font-family: "Geist Mono"; src: url(data:font/woff2;base64,${font('geist-mono')}); font-weight: 100 900 }`,
].join('\n');
const page = readFileSync(join(import.meta.dirname, 'film.html'), 'utf8').replace(
  '/* TOKENS */',
  style,
);

const frames = mkdtempSync(join(tmpdir(), 'film-'));
const browser = await chromium.launch(CHROMIUM);
// 1280 by 720 pixels, because the codecs need even numbers.
const tab = await browser.newPage({ viewport: SIZE, deviceScaleFactor: 1280 / SIZE.width });
await tab.setContent(page);
await tab.evaluate(() => document.fonts.ready);
for (let frame = 0; frame < LENGTH_SECONDS * FRAMES_PER_SECOND; frame += 1) {
  await tab.evaluate(show, pictureAt(frame / FRAMES_PER_SECOND));
  await tab.screenshot({ path: join(frames, `${String(frame).padStart(4, '0')}.png`) });
}
await browser.close();

const input = [
  '-y',
  '-loglevel',
  'error',
  '-framerate',
  `${FRAMES_PER_SECOND}`,
  '-i',
  `${frames}/%04d.png`,
];
encode('film.webm', ['-c:v', 'libvpx-vp9', '-crf', '36', '-b:v', '0', '-row-mt', '1']);
encode('film.mp4', ['-c:v', 'libx264', '-crf', '26', '-preset', 'slow', '-movflags', '+faststart']);
execFileSync('ffmpeg', [
  '-y',
  '-loglevel',
  'error',
  '-i',
  join(frames, '0180.png'),
  '-quality',
  '80',
  join(folder, 'poster.webp'),
]);
writeFileSync(join(folder, 'captions.vtt'), captions());
rmSync(frames, { recursive: true });

function encode(name: string, codec: readonly string[]) {
  execFileSync('ffmpeg', [...input, ...codec, '-pix_fmt', 'yuv420p', '-an', join(folder, name)]);
}

interface Picture {
  world: string;
  status: string;
  words: string;
  scan: number;
}

function pictureAt(seconds: number): Picture {
  const scene = shop();
  for (const actor of actors) {
    const { label, severity } = detectionOf(actor, seconds);
    scene.person(placeOf(actor, seconds), label, severity);
  }
  const line = lines.find(
    ({ fromSeconds, toSeconds }) => seconds >= fromSeconds && seconds < toSeconds,
  );
  return {
    world: scene.toDrawing(),
    status: line?.status ?? '',
    words: line?.words ?? '',
    scan: ((seconds % 4) / 4) * SIZE.height,
  };
}

/** Runs in the page. */
function show({ world, status, words, scan }: Picture) {
  const set = (id: string, change: (element: HTMLElement) => void) => {
    const element = document.getElementById(id);
    if (element) {
      change(element);
    }
  };
  set('world', element => {
    element.innerHTML = world;
  });
  set('line', element => {
    element.textContent = status;
  });
  set('words', element => {
    element.textContent = words;
  });
  set('scan', element => {
    element.style.top = `${scan}px`;
  });
}

/** https://www.w3.org/TR/webvtt1/ */
function captions(): string {
  const clock = (seconds: number) => `00:${String(seconds).padStart(2, '0')}.000`;
  const cues = lines.map(
    ({ fromSeconds, toSeconds, words }) =>
      `${clock(fromSeconds)} --> ${clock(toSeconds)}\n${words}`,
  );
  return `WEBVTT\n\n${cues.join('\n\n')}\n`;
}
