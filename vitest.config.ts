import { defineConfig } from 'vitest/config';

/** Tests that are slow and rarely tell anything new run by schedule, with SLOW=1. */
const isSlow = process.env['SLOW'] === '1';

export default defineConfig({
  test: {
    include: [isSlow ? 'test/slow/**/*.test.ts' : 'test/**/*.test.ts'],
    exclude: isSlow ? [] : ['test/slow/**'],
    // Many files wait for a real process: three at a time use two cores.
    maxWorkers: 3,
    // What takes so long hangs. Less would be a statement on how busy the machine is.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Earlier, so that the failure says what was waited for.
    expect: { poll: { timeout: 240_000 } },
    globalSetup: ['test/support/node-version.ts'],
    setupFiles: ['test/support/seed.ts'],
    coverage: { provider: 'v8', include: ['src/**'], reporter: ['text-summary', 'text'] },
  },
});
