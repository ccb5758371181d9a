// @vitest-environment happy-dom
import { beforeAll, expect, test, vi } from 'vitest';

type Rule = 'createHTML' | 'createScript' | 'createScriptURL';

let rules: Record<Rule, (text: string) => string | null>;

beforeAll(async () => {
  const createPolicy = vi.fn();
  vi.stubGlobal('trustedTypes', { createPolicy });
  await vi.importActual('./trusted-types.js');
  const [name, made] = createPolicy.mock.calls[0] ?? [];
  expect(name).toBe('default');
  rules = made;
});

test.each([
  ['createScriptURL', '/assets/main.1234.js'],
  ['createScriptURL', '/remotes/blog/remoteEntry.js?1'],
  ['createScriptURL', `${location.origin}/remotes/blog/remoteEntry.js`],
  ['createScriptURL', '/remotes/blog/assets/post-smart-home.1a2b.js'],
  ['createHTML', '<script></script>'],
  ['createHTML', '{"@context":"https://schema.org"}'],
  ['createScript', '{"@context":"https://schema.org"}'],
] satisfies [Rule, string][])('%s lets %s pass', (rule, text) => {
  expect(rules[rule](text)).toBe(text);
});

test.each([
  ['createScriptURL', 'https://evil.example/assets/main.js'],
  ['createScriptURL', '//evil.example/assets/main.js'],
  ['createScriptURL', `${location.origin}.evil.example/assets/main.js`],
  ['createScriptURL', '/assets/../api/openapi.json'],
  ['createScriptURL', '/assets/%2e%2e/api/openapi.json'],
  ['createScriptURL', '/api/openapi.json'],
  ['createScriptURL', 'data:text/javascript,alert(1)'],
  ['createHTML', '<img src=x onerror=alert(1)>'],
  ['createHTML', '<script></script><img src=x onerror=alert(1)>'],
  ['createHTML', 'words\n<img src=x onerror=alert(1)>'],
  ['createHTML', 'words <script></script>'],
  ['createScript', '0\n{"@context":'],
  ['createScript', 'alert(1)'],
] satisfies [Rule, string][])('%s refuses %s', (rule, text) => {
  expect(rules[rule](text)).toBeNull();
});
