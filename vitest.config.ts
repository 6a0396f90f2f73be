import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Many files wait for a real process: three at a time use two cores.
    maxWorkers: 3,
    globalSetup: ['test/support/node-version.ts'],
    coverage: { provider: 'v8', include: ['src/**'], reporter: ['text-summary', 'text'] },
  },
});
