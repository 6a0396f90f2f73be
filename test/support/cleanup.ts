import { afterAll } from 'vitest';

const steps: (() => unknown)[] = [];

/** Runs after all tests of the file, last in first out: unlike at the end of a test, tests may run side by side. */
export function atTheEnd(step: () => unknown): void {
  steps.push(step);
}

// Registered with the file that imports this first.
afterAll(async () => {
  for (let step = steps.pop(); step; step = steps.pop()) await step();
});
