import { setImmediate, setTimeout } from 'node:timers/promises';
import { createTransport } from '../../../src/api/transport.ts';
import type { Outside } from '../../../src/exporter/client.ts';

// Counts the work that takes real time in a program on a virtual clock: requests, bodies of answers, files.

let works = 0;

/** Stops a virtual clock until the work is done. */
export function underWay<T>(work: Promise<T>): Promise<T> {
  works += 1;
  return work.finally(() => {
    works -= 1;
  });
}

/** For a program on a virtual clock: the clock stands still while a request is answered. */
export const TRACKED: Outside = {
  random: Math.random,
  createTransport(options) {
    const { send, close } = createTransport(options);
    return {
      close,
      async send(request, stop) {
        const answer = await underWay(send(request, stop));
        return { ...answer, body: () => tracked(answer.body()) };
      },
    };
  },
};

async function* tracked(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  works += 1;
  try {
    yield* body;
  } finally {
    works -= 1;
  }
}

/** Waits until all requests and all other work have ended, and the program has reacted to them. */
export async function workDone(): Promise<void> {
  await setImmediate();
  while (works > 0) {
    await setTimeout(1);
    await setImmediate();
  }
}
