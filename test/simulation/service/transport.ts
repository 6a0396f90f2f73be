import { RequestFailed } from '../../../src/api/errors.ts';
import type { Answer, Transport, WireRequest } from '../../../src/api/transport.ts';
import type { Random } from '../random.ts';
import type { Network, Way } from './network.ts';
import type { Served, Service } from './service.ts';

/** The true time. */
export interface WorldTime {
  /** Unix ms. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

export interface Wire {
  /** The name of the process. */
  readonly process: string;
  /** Limit on the whole exchange. */
  readonly timeoutMs: number;
  readonly time: WorldTime;
  /** Decides what becomes of each request. */
  readonly random: Random;
  /** false: the process is dead, and hears nothing more. A request that is on its way is counted all the same. */
  readonly isAlive?: () => boolean;
}

/**
 * The transport of one process to the service, with the failures of the real one (src/api/transport.ts). The service
 * counts a request half-way, also if the process does not wait for the answer any more.
 */
export function transportOf(service: Service, network: Network, wire: Wire): Transport {
  const { process, timeoutMs, time, random, isAlive = () => true } = wire;

  return async function send(request: WireRequest, signal: AbortSignal): Promise<Answer> {
    const sentAt = time.now();
    const way = network.way(process, sentAt, timeoutMs, random);
    if (signal.aborted) throw signal.reason;
    const head = await heard(exchange(request, way, sentAt), signal);
    return { ...head, body: () => bodyOf(request, head.served, way, sentAt, signal), discard: () => undefined };
  };

  async function exchange(request: WireRequest, { there, back, end, arrives }: Way, sentAt: number): Promise<Head> {
    const { endpoint } = request;
    // What arrives after the timeout is counted too.
    const arrival = time.sleep(there).then(() => {
      return arrives ? service.handle(request, time.now(), { process, sentAt }) : undefined;
    });
    if (end === 'lost' || there + back >= timeoutMs) {
      await time.sleep(timeoutMs);
      throw timedOut(request);
    }
    const served = await arrival;
    await time.sleep(back);
    if (!served || end === 'reset') throw new RequestFailed(endpoint, 'network', 'ECONNRESET');
    if (served.status !== 200 && isAlive()) service.delivered(served, time.now());
    return { status: served.status, headers: served.headers, served };
  }

  async function* bodyOf(
    request: WireRequest,
    served: Served,
    { end }: Way,
    sentAt: number,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const body = Buffer.from(served.body);
    if (end === 'whole') {
      if (served.status === 200) service.delivered(served, time.now());
      yield body;
      return;
    }
    yield body.subarray(0, Math.floor(body.length / 2));
    if (end === 'broken') throw new RequestFailed(request.endpoint, 'network', 'UND_ERR_SOCKET');
    await heard(time.sleep(sentAt + timeoutMs - time.now()), signal);
    throw timedOut(request);
  }

  /** The result, unless the process stops to wait for it or is dead. */
  function heard<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const abort = (): void => reject(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      const unlessDead = <V>(settle: (value: V) => void): ((value: V) => void) => {
        return (value) => {
          signal.removeEventListener('abort', abort);
          if (isAlive()) settle(value);
        };
      };
      result.then(unlessDead(resolve), unlessDead(reject));
    });
  }
}

interface Head extends Pick<Answer, 'status' | 'headers'> {
  readonly served: Served;
}

function timedOut({ endpoint }: WireRequest): RequestFailed {
  return new RequestFailed(endpoint, 'timeout', 'no complete response within api.timeout');
}
