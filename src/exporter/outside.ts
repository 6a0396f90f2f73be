import { RequestFailed } from '../api/errors.ts';
import type { CreateTransport, TransportOptions } from '../api/transport.ts';
import { EXPOSITION_OPTIONS, type ExpositionOptions } from '../toolkit/exposition/exposition.ts';
import { codeOf } from '../toolkit/lib/error-code.ts';

/** The outside world, apart from clock, log and documents. A simulation replaces it. */
export interface Outside {
  readonly createTransport: CreateTransport;
  /** In [0, 1). */
  random(): number;
  readonly exposition: ExpositionOptions;
}

export const OUTSIDE: Outside = { createTransport, random: Math.random, exposition: EXPOSITION_OPTIONS };

/** Loads undici with the first request: that takes 30 ms, and showing the stored values needs no HTTP client. */
function createTransport(options: TransportOptions): ReturnType<CreateTransport> {
  let opened: ReturnType<CreateTransport> | undefined;
  return {
    async send(request, stop) {
      // If this load fails, the next request tries again.
      const module = await import('../api/transport.ts').catch((error: unknown) => {
        const why = `the HTTP client cannot be loaded: ${codeOf(error) ?? error}`;
        throw new RequestFailed(request.endpoint, 'network', why);
      });
      stop.throwIfAborted();
      opened ??= module.createTransport(options);
      return opened.send(request, stop);
    },
    close: async () => opened?.close(),
  };
}
