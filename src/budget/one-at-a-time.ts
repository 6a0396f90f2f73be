import type { Budget } from './permit.ts';
import type { Priority } from './priority.ts';

/**
 * The same budget, of which the requests of one priority wait in a queue of their own: only the first of them waits among the
 * others. So of many such requests, at most one every STARVED_MS goes before the rest.
 */
export function oneAtATime(priority: Priority, budget: Budget): Budget {
  let last: Promise<unknown> = Promise.resolve();
  return {
    async acquire(request, signal) {
      if (request.priority !== priority) return budget.acquire(request, signal);
      const before = last;
      const turn = Promise.withResolvers<void>();
      last = Promise.all([before, turn.promise]);
      try {
        await unlessAborted(before, signal);
        return await budget.acquire(request, signal);
      } finally {
        turn.resolve();
      }
    },
  };
}

function unlessAborted(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    });
  });
}
