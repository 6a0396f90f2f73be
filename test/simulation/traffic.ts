import { type Endpoint, RequestFailed } from '../../src/api/errors.ts';
import type { Answer, Transport, WireRequest } from '../../src/api/transport.ts';
import type { Headers } from '../../src/budget/headers.ts';
import type { ExporterSetting } from './exporter-setting.ts';
import type { Exchange } from './service/record.ts';

/** One request as it left its process, and what became of it there. Times are true ones, Unix ms. */
export interface Sent {
  readonly host: string;
  readonly process: number;
  readonly endpoint: Endpoint;
  /** The source whose poll it belongs to: its name, and its chain after a dash. */
  readonly source: string;
  readonly key: string;
  readonly request: WireRequest;
  readonly at: number;
  /** When the process made the call. It can have been paused between the two. */
  readonly calledAt: number;
  /** By the clock of the process. */
  readonly ownAt: number;
  /** The head of the answer, once the process has it. */
  head?: { readonly at: number; readonly ownAt: number; readonly status: number; readonly headers: Headers };
  /** When the process had the whole answer, or gave up. */
  endedAt?: number;
  /** Why it failed on the way; `aborted`: the process gave it up by itself. */
  failure?: string;
}

/** In order of time, for one pass over everything that happened. */
export type TrafficEvent =
  | { readonly kind: 'sent' | 'head' | 'end'; readonly at: number; readonly sent: Sent }
  /** The service has counted it. */
  | { readonly kind: 'counted'; readonly at: number; readonly sent: Sent; readonly exchange: Exchange }
  /** Another user of the account. */
  | { readonly kind: 'others'; readonly at: number; readonly requests: number }
  /** The limits of the account are others now, or its quota is full again. */
  | { readonly kind: 'plan' | 'renewal'; readonly at: number }
  /** A process reads its configuration: when it starts, or because the operator asked for it. */
  | {
      readonly kind: 'start' | 'reload';
      readonly at: number;
      readonly host: string;
      readonly process: number;
      readonly exporter: ExporterSetting;
    }
  | {
      readonly kind: 'ended';
      readonly at: number;
      readonly host: string;
      readonly process: number;
      readonly why: string;
    }
  /** The clock of a host is set. */
  | { readonly kind: 'step'; readonly at: number; readonly host: string; readonly byMs: number };

/** Fewer are not worth the copy of the others. */
const MANY = 1_000;

interface Sender {
  readonly host: string;
  readonly process: number;
  /** True time, and the clock of the process. */
  readonly time: { now(): number };
  readonly own: { now(): number };
}

/** What passes between the processes and the network, and what else decides what they may send. */
export class Traffic {
  #events: TrafficEvent[] = [];
  #forgotten = 0;
  #readUpTo = 0;
  #onEnded: ((sent: Sent) => void) | undefined;
  readonly #sent = new WeakMap<WireRequest, Sent>();
  readonly #calledAt = new WeakMap<WireRequest, number>();

  /** The requests of the last events. */
  get newest(): readonly Sent[] {
    return this.#events.slice(-20).flatMap((event) => (event.kind === 'sent' ? [event.sent] : []));
  }

  note(event: TrafficEvent): void {
    this.#events.push(event);
  }

  /** Calls `act` once, when a process next has the whole of an answer that `isAwaited`. */
  onceEnded(isAwaited: (sent: Sent) => boolean, act: (sent: Sent) => void): void {
    this.#onEnded = (sent) => {
      if (!isAwaited(sent)) return;
      this.#onEnded = undefined;
      act(sent);
    };
  }

  /** The events since a time. */
  since(at: number): readonly TrafficEvent[] {
    return this.#events.slice(this.#events.findLastIndex((event) => event.at < at) + 1);
  }

  /** The events from a number on, counted from the first one. */
  from(number: number): readonly TrafficEvent[] {
    if (number < this.#forgotten) throw new Error(`event ${number} is forgotten`);
    return this.#events.slice(number - this.#forgotten);
  }

  /** Drops events before `at` that were already there at the previous call: every reader has read them since. */
  forgetBefore(at: number): void {
    const index = this.#events.findIndex((event) => event.at >= at);
    const old = index < 0 ? this.#events.length : index;
    const count = Math.min(old, this.#readUpTo - this.#forgotten);
    this.#readUpTo = this.#forgotten + this.#events.length;
    if (count < MANY) return;
    this.#events = this.#events.slice(count);
    this.#forgotten += count;
  }

  of(request: WireRequest): Sent | undefined {
    return this.#sent.get(request);
  }

  /** Notes requests when they leave. To be used where a dead process calls nothing. */
  leaving(send: Transport, sender: Sender): Transport {
    return (request, signal) => {
      const { host, process, time, own } = sender;
      const { endpoint } = request;
      const who = { host, process, endpoint, source: sourceOf(request), key: keyOf(request) };
      const at = time.now();
      const sent: Sent = { ...who, request, at, calledAt: this.#calledAt.get(request) ?? at, ownAt: own.now() };
      this.#sent.set(request, sent);
      this.note({ kind: 'sent', at: sent.at, sent });
      return send(request, signal);
    };
  }

  /** Notes calls when the process makes them, and answers when it has them. */
  arriving(send: Transport, { time, own }: Sender): Transport {
    const ended = (request: WireRequest, failure?: string): void => {
      const sent = this.#sent.get(request);
      if (!sent || sent.endedAt !== undefined) return;
      sent.endedAt = time.now();
      if (failure !== undefined) sent.failure = failure;
      this.note({ kind: 'end', at: sent.endedAt, sent });
      this.#onEnded?.(sent);
    };
    const failed = (request: WireRequest, error: unknown): never => {
      ended(request, error instanceof RequestFailed ? error.reason : 'aborted');
      throw error;
    };
    async function* bodyOf(request: WireRequest, answer: Answer): AsyncGenerator<Uint8Array> {
      try {
        yield* answer.body();
      } catch (error) {
        failed(request, error);
      } finally {
        ended(request);
      }
    }
    return async (request, signal) => {
      this.#calledAt.set(request, time.now());
      const answer = await send(request, signal).catch((error: unknown) => failed(request, error));
      const sent = this.#sent.get(request);
      const { status, headers } = answer;
      if (sent) {
        sent.head = { at: time.now(), ownAt: own.now(), status, headers };
        this.note({ kind: 'head', at: sent.head.at, sent });
      }
      if (status !== 200) ended(request);
      return { ...answer, body: () => bodyOf(request, answer) };
    };
  }
}

function keyOf({ headers }: WireRequest): string {
  return headers['apikey'] ?? headers['authorization']?.replace(/^Bearer /, '') ?? '';
}

const SOURCES: Readonly<Record<Endpoint, string>> = {
  machine_metrics: 'machines',
  daily_returns: 'daily_returns',
  sync_committee: 'sync_committee',
  sync_committee_members: 'sync_committee',
  epoch_slots: 'slashings',
  attester_slashings: 'slashings',
  proposer_slashings: 'slashings',
};

function sourceOf({ endpoint, base, body = '' }: WireRequest): string {
  if (endpoint === 'machine_metrics') return SOURCES[endpoint];
  const chain = base.includes('hoodi') || body.includes('"hoodi"') ? 'hoodi' : 'mainnet';
  return `${SOURCES[endpoint]}-${chain}`;
}
