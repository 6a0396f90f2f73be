import { type Endpoint, RequestFailed } from '../api/errors.ts';
import type { CreateTransport, TransportOptions } from '../api/transport.ts';
import { codeOf } from '../lib/error-code.ts';
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

/** Loads undici with the first request. */
function createTransport(options: TransportOptions): ReturnType<CreateTransport> {
  let opened: Promise<ReturnType<CreateTransport>> | undefined;
  const open = async (endpoint: Endpoint): Promise<ReturnType<CreateTransport>> => {
    opened ??= loadTransport().then((module) => module.createTransport(options));
    try {
      return await opened;
    } catch (error) {
      opened = undefined;
      throw new RequestFailed(endpoint, 'network', `the HTTP client cannot be loaded: ${codeOf(error) ?? error}`);
    }
  };
  return {
    send: async (request, signal) => (await open(request.endpoint)).send(request, signal),
    // Requests that wait for the load are sent before, and end with the connections.
    close: async () => (await opened?.catch(() => undefined))?.close(),
  };
}
