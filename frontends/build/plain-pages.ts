import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuiltPage } from '../kit/testing/built-site.ts';
import { builtPage } from '../kit/testing/built-site.ts';
import { compile } from './compile.ts';
import { compressIn } from './compress.ts';
import { dist } from './file-paths.ts';
import { plainPagesConfig } from './rsbuild-config.ts';

// Plain React pages: the same HTML, stylesheets and pictures as pages of the site, hydrated by one deferred script that
// holds React, the router and the page, in one piece. What a page of ours costs is told beside these.

/** Builds a site of plain React pages into a folder: those of the built site at these addresses. */
export async function buildPlainPages(addresses: readonly string[], folder: string): Promise<void> {
  const sources = `${folder}.sources`;
  await Promise.all([folder, sources].map(each => rm(each, { recursive: true, force: true })));
  await cp(dist, folder, { recursive: true });
  await mkdir(sources);
  const pages = addresses.map(builtPage);
  const entries = await Promise.all(
    pages.map(async ({ document }, at): Promise<[string, string]> => {
      const file = join(sources, `${at}.js`);
      await writeFile(file, pageSource(document));
      return [entryName(at), file];
    }),
  );
  const chunkFilesOf = await compile({
    plain: plainPagesConfig(Object.fromEntries(entries), folder),
  });
  const scripts = chunkFilesOf('plain');
  await Promise.all(
    pages.map((page, at) =>
      writeFile(join(folder, page.file), plainHtml(page, scripts[entryName(at)] ?? [])),
    ),
  );
  await allowNoInlineScript(join(folder, '_routes.json'));
  await compressIn(folder);
}

function entryName(at: number): string {
  return `plain-${at}`;
}

/** The page's document with a deferred script in place of what starts our application. */
function plainHtml({ html }: BuiltPage, scripts: readonly string[]): string {
  const tags = scripts.map(script => `<script defer src="${script}"></script>`).join('');
  return html
    .replace(/<!--.*?-->/gs, '')
    .replace(/<script>.*?<\/script>/gs, '')
    .replace(/<meta name="(?:app-script|deferred-preload|remote:\w+)"[^>]*>/g, '')
    .replace('</head>', () => `${tags}</head>`);
}

async function allowNoInlineScript(routesFile: string) {
  const routes = JSON.parse(await readFile(routesFile, 'utf8'));
  const plain = { ...routes, scriptHashes: [], trustedTypePolicies: [] };
  await writeFile(routesFile, JSON.stringify(plain));
}

/** Source of a React page that renders what is in the document's root. */
function pageSource(document: Document): string {
  const root = document.getElementById('root');
  const children = root ? childSources(root) : [];
  return `
    import { jsx } from 'react/jsx-runtime';
    import { hydrateRoot } from 'react-dom/client';
    import { BrowserRouter, Link, Route, Routes } from 'react-router-dom';
    function Page() { return [${children.join()}]; }
    const routes = jsx(Routes, { children: jsx(Route, { path: '*', element: jsx(Page, {}) }) });
    hydrateRoot(document.getElementById('root'), jsx(BrowserRouter, { children: routes }));
  `;
}

/** React's names of attributes that HTML calls otherwise; without them it would take over what visitors enter. */
const PROPS: Readonly<Record<string, string>> = {
  class: 'className',
  for: 'htmlFor',
  value: 'defaultValue',
  checked: 'defaultChecked',
};

/** Texts that only a comment parts are one: the plain page's HTML has no comments. */
function childSources(parent: Node): string[] {
  const sources: string[] = [];
  let text = '';
  for (const node of parent.childNodes) {
    if (node.nodeType === node.TEXT_NODE) {
      text += node.textContent;
    } else if (node.nodeType === node.ELEMENT_NODE) {
      sources.push(...textSource(text), elementSource(node as Element));
      text = '';
    }
  }
  return [...sources, ...textSource(text)];
}

function textSource(text: string): string[] {
  return text ? [JSON.stringify(text)] : [];
}

function elementSource(element: Element): string {
  const name = element.localName;
  const attributes = Array.from(element.attributes, each => [each.name, each.value] as const);
  const href = element.getAttribute('href');
  const isRoute = name === 'a' && href?.startsWith('/');
  const props = attributes.map(([attribute, value]) => {
    const prop = isRoute && attribute === 'href' ? 'to' : (PROPS[attribute] ?? attribute);
    return `${JSON.stringify(prop)}: ${JSON.stringify(value)}`;
  });
  return `jsx(${isRoute ? 'Link' : JSON.stringify(name)}, {${[...props, ...contentOf(element)].join()}})`;
}

/** Elements whose content is text, whatever it looks like. */
const TEXT_ELEMENTS = ['script', 'style'];

function contentOf(element: Element): string[] {
  if (TEXT_ELEMENTS.includes(element.localName)) {
    return [`dangerouslySetInnerHTML: { __html: ${JSON.stringify(element.textContent)} }`];
  }
  // React hydrates no content of these.
  if (element.localName === 'noscript') {
    return [];
  }
  const children = childSources(element);
  return children.length > 0 ? [`children: [${children.join()}]`] : [];
}
