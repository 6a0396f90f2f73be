import { RequestFailed } from '../../../src/api/errors.ts';
import type { Answer, Transport, WireRequest } from '../../../src/api/transport.ts';
import type { ExporterProcess } from '../exporter-process.ts';
import type { Random } from '../random.ts';
import { keyOf, type Sent } from '../traffic.ts';
import type { World } from '../world.ts';
import type { Way } from './network.ts';
import type { Served } from './service.ts';

/**
 * The transport of one process to the service, with the failures of the real one (src/api/transport.ts). Requests leave and
 * answers arrive only while the process runs. The service counts a request half-way, also if nobody waits for the answer
 * any more.
 */
export function transportOf(world: World, process: ExporterProcess, timeoutMs: number, random: Random): Transport {
  const { clock, service, network, traffic } = world;

  return async function send(request: WireRequest, signal: AbortSignal): Promise<Answer> {
    signal.throwIfAborted();
    const { sent, way, answer } = await process.call('request', () => begin(request));
    try {
      const served = await arriving(answer, signal);
      const { status, headers } = served;
      sent.head = { at: clock.now(), status, headers };
      traffic.note({ kind: 'head', at: clock.now(), sent });
      return { status, headers, body: () => bodyOf(sent, served, way, signal), discard: () => end(sent) };
    } catch (error) {
      end(sent, error);
      throw error;
    }
  };

  /** A request in flight, and its next step. */
  function begin(request: WireRequest) {
    const at = clock.now();
    const { endpoint } = request;
    const who = { process: process.number, endpoint, key: keyOf(request) };
    const sent: Sent = { ...who, request, at, ownAt: process.clock.now() };
    traffic.note({ kind: 'sent', at, sent });
    const way = network.way(at, timeoutMs, random);
    const answer = exchange(sent, way);
    // A process that dies hears of no failure.
    answer.catch(() => undefined);
    return { sent, way, answer };
  }

  async function exchange(sent: Sent, { there, back, end: how, arrives }: Way): Promise<Served> {
    // What arrives after the timeout is counted too.
    const arrival = clock.sleep(there).then(() => {
      if (!arrives) return undefined;
      const at = clock.now();
      const served = service.handle(sent.request, at);
      sent.counted = { at, ...served.counted };
      traffic.note({ kind: 'counted', at, sent, counted: sent.counted });
      return served;
    });
    if (how === 'lost' || there + back >= timeoutMs) {
      await clock.sleep(timeoutMs);
      throw timedOut(sent);
    }
    const served = await arrival;
    await clock.sleep(back);
    if (!served || how === 'reset') throw new RequestFailed(sent.endpoint, 'network', 'ECONNRESET');
    return served;
  }

  async function* bodyOf(
    sent: Sent,
    served: Served,
    { end: how }: Way,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const body = Buffer.from(served.body);
    try {
      if (how === 'whole') {
        served.onDelivered();
        yield body;
        return;
      }
      yield body.subarray(0, Math.floor(body.length / 2));
      if (how === 'broken') throw new RequestFailed(sent.endpoint, 'network', 'UND_ERR_SOCKET');
      await arriving(clock.sleep(sent.at + timeoutMs - clock.now()), signal);
      throw timedOut(sent);
    } catch (error) {
      end(sent, error);
      throw error;
    } finally {
      end(sent);
    }
  }

  function end(sent: Sent, error?: unknown): void {
    if (sent.endedAt !== undefined) return;
    sent.endedAt = clock.now();
    if (error !== undefined) sent.failure = error instanceof RequestFailed ? error.reason : 'aborted';
    traffic.note({ kind: 'end', at: sent.endedAt, sent });
  }

  /** The outcome, unless the process stops to wait for it or is dead. */
  function arriving<T>(coming: Promise<T>, signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const abort = (): void => reject(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      const settle = (act: () => void): void =>
        void process.call('answer', () => signal.removeEventListener('abort', abort)).then(act);
      coming.then(
        (value) => settle(() => resolve(value)),
        (error: unknown) => settle(() => reject(error)),
      );
    });
  }
}

function timedOut({ endpoint }: Sent): RequestFailed {
  return new RequestFailed(endpoint, 'timeout', 'no complete response within api.timeout');
}
