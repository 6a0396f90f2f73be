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

/** Loads undici, which takes a start longer than to show what an earlier process left. That needs no HTTP client. */
export function loadTransport(): Promise<{ readonly createTransport: CreateTransport }> {
  return import('../api/transport.ts');
}

function createTransport(options: TransportOptions): ReturnType<CreateTransport> {
  let opened: Promise<ReturnType<CreateTransport>> | undefined;
  return {
    async send(request, signal) {
      opened ??= loadTransport().then((module) => module.createTransport(options));
      return (await opened).send(request, signal);
    },
    // Requests that wait for the load are sent before, and end with the connections.
    close: async () => (await opened?.catch(() => undefined))?.close(),
  };
}
