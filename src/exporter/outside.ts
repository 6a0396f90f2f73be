import type { CreateTransport, TransportOptions } from '../api/transport.ts';
import { EXPOSITION_OPTIONS, type ExpositionOptions } from '../metrics/exposition.ts';

/** What an engine uses of the world apart from clock, log and documents. A simulation replaces it. */
export interface Outside {
  readonly createTransport: CreateTransport;
  /** In [0, 1). */
  random(): number;
  readonly exposition: ExpositionOptions;
}

export const OUTSIDE: Outside = { createTransport, random: Math.random, exposition: EXPOSITION_OPTIONS };

/** Loads undici with the first request, because a start first shows what an earlier process left. */
function createTransport(options: TransportOptions): ReturnType<CreateTransport> {
  let transport: ReturnType<CreateTransport> | undefined;
  return {
    async send(request, signal) {
      const module = await import('../api/transport.ts');
      transport ??= module.createTransport(options);
      return transport.send(request, signal);
    },
    close: async () => transport?.close(),
  };
}
