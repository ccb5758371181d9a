import { defineConfig } from 'vitest/config';

/** Tests that build a site, read a built one or start the compiler: they take seconds, not milliseconds. */
const SITE = [
  'frontends/*/tests/site/**/*.test.ts',
  'frontends/build/{asyncapi,contract,rebrand}.test.ts',
];

export default defineConfig({
  test: {
    projects: [
      {
        define: { REMOTE_VERSION: '"under test"' },
        test: {
          name: 'unit',
          include: ['frontends/*/src/**/*.test.{ts,tsx}', 'frontends/**/build/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...SITE],
          // A file that needs a DOM says so in its first line: `@vitest-environment happy-dom`.
          environment: 'node',
          setupFiles: ['frontends/kit/testing/setup.ts'],
        },
      },
      { test: { name: 'site', include: SITE } },
    ],
  },
});
