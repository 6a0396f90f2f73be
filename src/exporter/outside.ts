import type { Endpoint } from '../api/endpoints.ts';
import { RequestFailed } from '../api/errors.ts';
import type { CreateTransport, TransportOptions } from '../api/transport.ts';
import { codeOf } from '../lib/error-code.ts';
import { EXPOSITION_OPTIONS, type ExpositionOptions } from '../metrics/exposition.ts';

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
  let opened: Promise<ReturnType<CreateTransport>> | undefined;
  async function open(endpoint: Endpoint, stop: AbortSignal): Promise<ReturnType<CreateTransport>> {
    opened ??= import('../api/transport.ts').then((module) => module.createTransport(options));
    const opening = opened;
    try {
      return await opening;
    } catch (error) {
      // The next request tries again.
      if (opened === opening) opened = undefined;
      stop.throwIfAborted();
      throw new RequestFailed(endpoint, 'network', `the HTTP client cannot be loaded: ${codeOf(error) ?? error}`);
    }
  }
  return {
    send: async (request, stop) => (await open(request.endpoint, stop)).send(request, stop),
    // A request that waits for the load is sent first, and ends when its connection is closed.
    close: async () => (await opened?.catch(() => undefined))?.close(),
  };
}
