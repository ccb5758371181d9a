import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { include: ['frontends/*/src/**/*.test.{ts,tsx}', 'frontends/**/build/**/*.test.ts'] },
});
