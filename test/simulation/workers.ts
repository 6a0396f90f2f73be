import { on } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { type SeedResult, simulateSeed } from './seeds.ts';

/** A seed that takes longer hangs. */
const LONGEST_MS = 300_000;

/** Simulates the seeds in threads, and yields the results as they come. */
export async function* inWorkers(
  seeds: readonly number[],
  days: number | undefined,
  jobs: number,
): AsyncGenerator<SeedResult> {
  const left = [...seeds];
  const results = new EventTarget();
  const workers = Array.from({ length: Math.min(jobs, seeds.length) }, () => begin());
  let done = 0;
  try {
    for await (const [event] of on(results, 'result')) {
      yield (event as CustomEvent<SeedResult>).detail;
      done += 1;
      if (done === seeds.length) return;
    }
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }

  function begin(): Worker {
    const worker = new Worker(import.meta.filename, {
      workerData: days,
      resourceLimits: { maxYoungGenerationSizeMb: 64 },
    });
    let alarm: NodeJS.Timeout | undefined;
    const next = (): void => {
      clearTimeout(alarm);
      const seed = left.shift();
      if (seed === undefined) return;
      alarm = setTimeout(() => {
        process.stdout.write(`Seed ${seed} does not end.\n`);
        process.exit(1);
      }, LONGEST_MS);
      worker.postMessage(seed);
    };
    worker.on('message', (result: SeedResult) => {
      next();
      results.dispatchEvent(new CustomEvent('result', { detail: result }));
    });
    worker.on('error', (error) => {
      throw error;
    });
    next();
    return worker;
  }
}

if (!isMainThread && parentPort) {
  const port = parentPort;
  // Most errors of a run are part of it. Their traces would take a tenth of the time.
  Error.stackTraceLimit = 0;
  port.on('message', async (seed: number) => port.postMessage(await simulateSeed(seed, workerData)));
}
