import { subscribe } from 'node:diagnostics_channel';
import { syncBuiltinESMExports } from 'node:module';
import { setImmediate, setTimeout } from 'node:timers/promises';
import zlib from 'node:zlib';

// What takes real time in a program whose clock is virtual: requests, files, unpacking answers, and compressing what is shown. To be imported
// before the program.

/** What is sent, by its time limit: undici notices late that one is up, and queues requests without telling. */
const sends = new Map<AbortSignal, unknown>();
const { timeout } = AbortSignal;
AbortSignal.timeout = (ms) => {
  const limit = timeout.call(AbortSignal, ms);
  sends.set(limit, undefined);
  limit.addEventListener('abort', () => sends.delete(limit));
  return limit;
};

const requestOf = (message: unknown): unknown => (message as { request: unknown }).request;
/** Requests leave the queue in the order in which they came. */
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

/** Lets a virtual clock stand still until the work is done. */
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
// Node does not let it be assigned.
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

/** Resolves when every request was answered or given up, other work is done, and what follows from that is done. */
export async function requestsAnswered(): Promise<void> {
  await setImmediate();
  if (sends.size + works === 0) return;
  while (sends.size + works > 0) await setTimeout(1);
  await setImmediate();
}

/** Resolves when what changed has been rendered. */
export async function rendered(): Promise<void> {
  do {
    await setImmediate();
    await setImmediate();
    while (compressions > 0) await setTimeout(1);
    await setImmediate();
  } while (compressions > 0);
}
