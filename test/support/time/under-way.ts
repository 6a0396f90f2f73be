import { subscribe } from 'node:diagnostics_channel';
import { syncBuiltinESMExports } from 'node:module';
import { setImmediate, setTimeout } from 'node:timers/promises';
import zlib from 'node:zlib';

// Tracks the work that takes real time in a program on a virtual clock: requests, files, unpacking of answers,
// compression of pages. Import this module before the program, because it patches Node's modules.
if (process.env['IS_SHARED']) throw new Error('add this test file to PATCHING in vitest.config.ts');

/**
 * Requests by the signal of their time limit. undici reacts late to a timeout and publishes nothing while a request is
 * queued.
 */
const sends = new Map<AbortSignal, unknown>();
const { timeout } = AbortSignal;
AbortSignal.timeout = (ms) => {
  const limit = timeout.call(AbortSignal, ms);
  // The limit of a connection, which belongs to no request.
  if (new Error().stack?.includes('/api/connect.ts')) return limit;
  sends.set(limit, undefined);
  limit.addEventListener('abort', () => sends.delete(limit));
  return limit;
};

const requestOf = (message: unknown): unknown => (message as { request: unknown }).request;
/** undici takes requests from its queue in order. */
subscribe('undici:request:create', (message) => {
  const [limit] = [...sends].find(([, request]) => request === undefined) ?? [];
  if (limit) sends.set(limit, requestOf(message));
});
for (const end of ['trailers', 'error']) {
  subscribe(`undici:request:${end}`, (message) => {
    const [limit] = [...sends].find(([, request]) => request === requestOf(message)) ?? [];
    if (limit) sends.delete(limit);
  });
}

let works = 0;

/** Stops a virtual clock until the work is done. */
export function underWay<T>(work: Promise<T>): Promise<T> {
  works += 1;
  return work.finally(() => {
    works -= 1;
  });
}

let compressions = 0;
const { gzip, createGunzip } = zlib;
zlib.gzip = ((data: zlib.InputType, done: zlib.CompressCallback) => {
  compressions += 1;
  gzip(data, (error, result) => {
    compressions -= 1;
    done(error, result);
  });
}) as typeof gzip;
// The property is read-only, so it is defined anew.
Object.defineProperty(zlib, 'createGunzip', {
  ...Object.getOwnPropertyDescriptor(zlib, 'createGunzip'),
  value(options: zlib.ZlibOptions) {
    const stream = createGunzip(options);
    works += 1;
    stream.once('close', () => {
      works -= 1;
    });
    return stream;
  },
});
syncBuiltinESMExports();

// The program loads it with its first request, which takes real time too.
await import('../../../src/api/transport.ts');

/** Waits until all requests and all other work have ended, and the program has reacted to them. */
export async function requestsAnswered(): Promise<void> {
  await setImmediate();
  if (sends.size + works === 0) return;
  while (sends.size + works > 0) await setTimeout(1);
  await setImmediate();
}

/** Waits until all changes are rendered. */
export async function rendered(): Promise<void> {
  do {
    await setImmediate();
    await setImmediate();
    while (compressions > 0) await setTimeout(1);
    await setImmediate();
  } while (compressions > 0);
}
