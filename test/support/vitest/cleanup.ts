const steps: (() => unknown)[] = [];

/** Runs a step after all tests of the file, last step first. Unlike onTestFinished it works in concurrent tests. */
export function atTheEnd(step: () => unknown): void {
  steps.push(step);
}

/** Runs the steps of the file that has ended. */
export async function cleanUp(): Promise<void> {
  for (let step = steps.pop(); step; step = steps.pop()) await step();
}
