import type { Page } from '@playwright/test';

export interface AccessibilityNode {
  role: string;
  name: string;
  description: string;
  /** Text of all its descendants. */
  text: string;
  /** ARIA properties: `expanded`, `invalid`, `required`, `level`, `focused` … */
  states: Readonly<Record<string, unknown>>;
  /** Node id of the element in the DevTools protocol. */
  element: number | undefined;
}

/** Roles of controls. The last two are Chromium's roles of a `summary`. */
const CONTROLS = [
  'button',
  'link',
  'textbox',
  'searchbox',
  'checkbox',
  'radio',
  'combobox',
  'slider',
  'DisclosureTriangle',
  'DisclosureTriangleGrouped',
];
const NAMED = [...CONTROLS, 'image', 'dialog', 'navigation', 'region', 'progressbar', 'Video'];
/** Decorative characters that no screen reader should read out. */
const DRAWN = /[−✕×#→›»]|\+(?!\d)/;

/** Accessibility tree of the page in reading order, without ignored nodes. */
export async function accessibilityTree(page: Page): Promise<AccessibilityNode[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  await session.detach();
  const byId = new Map(nodes.map(node => [node.nodeId, node]));
  type Node = (typeof nodes)[number];
  const within = (node: Node): Node[] =>
    (node.childIds ?? []).flatMap(id => {
      const child = byId.get(id);
      return child ? [child, ...within(child)] : [];
    });
  const [root] = nodes;
  return (root ? [root, ...within(root)] : [])
    .filter(({ ignored }) => !ignored)
    .map(node => ({
      role: wordOf(node.role),
      name: wordOf(node.name),
      description: wordOf(node.description),
      text: within(node)
        .filter(({ role }) => role?.value === 'StaticText')
        .map(({ name }) => wordOf(name).trim())
        .join(' '),
      states: Object.fromEntries(
        (node.properties ?? []).map(({ name, value }) => [name, value.value]),
      ),
      element: node.backendDOMNodeId,
    }));
}

export async function nodeWith(
  page: Page,
  role: string,
  name: string,
): Promise<AccessibilityNode | undefined> {
  const tree = await accessibilityTree(page);
  return tree.find(node => node.role === role && node.name === name);
}

/** Moves the focus to the node with a role and a name, as a screen reader does. */
export async function focusNode(page: Page, role: string, name: string): Promise<void> {
  const found = await nodeWith(page, role, name);
  if (found?.element === undefined) {
    throw new Error(`The tree has no ${role} "${name}"`);
  }
  const session = await page.context().newCDPSession(page);
  await session.send('DOM.focus', { backendNodeId: found.element });
  await session.detach();
}

/** Problems for a screen reader: missing or repeated names, and a broken outline. */
export function treeProblems(tree: readonly AccessibilityNode[]): string[] {
  const nameless = tree.filter(({ role, name }) => NAMED.includes(role) && !name.trim());
  const drawn = tree.filter(({ role, name }) => CONTROLS.includes(role) && DRAWN.test(name));
  return [
    ...nameless.map(({ role }) => `${role} has no name`),
    ...drawn.map(({ role, name }) => `${role} "${name}" is read out with a sign`),
    ...['navigation', 'region'].flatMap(role => repeatedNames(tree, role)),
    // An open dialog hides the rest of the page.
    ...(tree.some(({ role }) => role === 'dialog') ? [] : outlineFaults(tree)),
  ];
}

function repeatedNames(tree: readonly AccessibilityNode[], role: string): string[] {
  const names = tree.filter(node => node.role === role).map(({ name }) => name);
  return names
    .filter((name, at) => names.indexOf(name) !== at)
    .map(name => `there are several ${role} "${name}"`);
}

function outlineFaults(tree: readonly AccessibilityNode[]): string[] {
  const found: string[] = [];
  for (const role of ['banner', 'main']) {
    const count = tree.filter(node => node.role === role).length;
    if (count !== 1) {
      found.push(`there are ${count} ${role}`);
    }
  }
  let above = 0;
  for (const { name, states } of tree.filter(({ role }) => role === 'heading')) {
    const level = Number(states['level']);
    if (level > above + 1) {
      found.push(`heading "${name}" skips a level`);
    }
    above = level;
  }
  return found;
}

function wordOf(property: { value?: unknown } | undefined): string {
  return String(property?.value ?? '');
}
