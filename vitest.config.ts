import { defineConfig } from 'vitest/config';

/** Tests that are slow and rarely tell anything new run by schedule, with SLOW=1. */
const isSlow = process.env['SLOW'] === '1';

/** Files that patch Node's modules, by nock. Each of them has a process of its own. */
const PATCHING = ['test/api/client.test.ts'];

export default defineConfig({
  test: {
    // The other files share processes, so that each process loads the program once.
    projects: isSlow
      ? [{ extends: true, test: { name: 'slow', include: ['test/slow/**/*.test.ts'] } }]
      : [
          { extends: true, test: { name: 'patching', include: PATCHING, sequence: { groupOrder: 1 } } },
          {
            extends: true,
            test: {
              name: 'shared',
              include: ['test/**/*.test.ts'],
              exclude: ['test/slow/**', ...PATCHING],
              isolate: false,
            },
          },
        ],
    // Many files wait for a real process: several at a time use two cores.
    maxWorkers: 6,
    // What takes so long hangs. Less would be a statement on how busy the machine is.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    globalSetup: ['test/support/vitest/node-version.ts'],
    setupFiles: ['test/support/vitest/setup.ts'],
    coverage: { provider: 'v8', include: ['src/**'], reporter: ['text-summary', 'text'] },
  },
});
