import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { drawStory } from './draw.ts';
import { type Outcome, run } from './run.ts';

/** What became of one seed. */
export interface SeedResult extends Outcome {
  readonly seed: number;
}

export async function simulateSeed(seed: number): Promise<SeedResult> {
  return { seed, ...(await run(drawStory(seed))) };
}

/** A seed that takes longer hangs. */
const LONGEST_MS = 300_000;

/**
 * Simulates the seeds in threads, until `onResult` returns false.
 * @throws Error where a thread fails, or a seed has no end
 */
export async function inWorkers(
  seeds: readonly number[],
  jobs: number,
  onResult: (result: SeedResult) => boolean,
): Promise<void> {
  const left = [...seeds];
  const workers: Worker[] = [];
  const work = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(import.meta.filename, { resourceLimits: { maxYoungGenerationSizeMb: 64 } });
      workers.push(worker);
      let alarm: NodeJS.Timeout | undefined;
      const next = (): void => {
        clearTimeout(alarm);
        const seed = left.shift();
        if (seed === undefined) {
          resolve();
          return;
        }
        alarm = setTimeout(() => reject(new Error(`seed ${seed} does not end`)), LONGEST_MS);
        worker.postMessage(seed);
      };
      worker.on('message', (result: SeedResult) => {
        if (!onResult(result)) left.length = 0;
        next();
      });
      worker.on('error', reject);
      next();
    });
  try {
    await Promise.all(Array.from({ length: Math.min(jobs, seeds.length) }, work));
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

if (!isMainThread && parentPort) {
  const port = parentPort;
  // Most errors of a run are part of it. Their traces would take a tenth of the time.
  Error.stackTraceLimit = 0;
  port.on('message', async (seed: number) => port.postMessage(await simulateSeed(seed)));
}
