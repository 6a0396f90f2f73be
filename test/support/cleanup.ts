import { afterAll } from 'vitest';

const steps: (() => unknown)[] = [];

/** Runs a step after all tests of the file, last step first. Unlike onTestFinished it works in concurrent tests. */
export function atTheEnd(step: () => unknown): void {
  steps.push(step);
}

// Vitest runs this for each test file that imports the module.
afterAll(async () => {
  for (let step = steps.pop(); step; step = steps.pop()) await step();
});
