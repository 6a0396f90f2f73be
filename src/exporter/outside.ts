import type { CreateTransport } from '../api/transport.ts';
import { EXPOSITION_OPTIONS, type ExpositionOptions } from '../metrics/exposition.ts';

/** What an engine uses of the world apart from clock, log and documents. A simulation replaces it. */
export interface Outside {
  readonly createTransport: CreateTransport;
  /** In [0, 1). */
  random(): number;
  readonly exposition: ExpositionOptions;
}

export const OUTSIDE: Outside = { createTransport, random: Math.random, exposition: EXPOSITION_OPTIONS };

/** Loads undici with the first request, because a start has to show what is kept before it asks for more. */
function createTransport(options: Parameters<CreateTransport>[0]): ReturnType<CreateTransport> {
  let loaded: Promise<ReturnType<CreateTransport>> | undefined;
  return {
    async send(request, signal) {
      loaded ??= import('../api/transport.ts').then((module) => module.createTransport(options));
      return (await loaded).send(request, signal);
    },
    close: async () => (await loaded)?.close(),
  };
}
