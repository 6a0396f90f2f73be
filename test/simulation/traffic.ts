import type { Endpoint } from '../../src/api/endpoints.ts';
import type { WireRequest } from '../../src/api/transport.ts';
import type { Headers } from '../../src/budget/headers.ts';
import type { Charge } from '../../src/sandbox/account.ts';
import type { ExporterSetting } from './exporter-setting.ts';
import type { Push } from './service/fleet.ts';

/** One request as it left its process, and what became of it. Times are true ones, Unix ms. */
export interface Sent {
  readonly process: number;
  readonly endpoint: Endpoint;
  readonly key: string;
  readonly request: WireRequest;
  readonly at: number;
  /** By the clock of the process. */
  readonly ownAt: number;
  /** What the service did with it, once it has counted it. */
  counted?: Counted;
  /** The head of the answer, once the process has it. */
  head?: { readonly at: number; readonly status: number; readonly headers: Headers };
  /** When the process had the whole answer, or gave up. */
  endedAt?: number;
  /** Why it failed on the way; `aborted`: the process gave it up by itself. */
  failure?: string;
}

export interface Counted {
  readonly at: number;
  /** undefined: nothing in the account counted it. */
  readonly bucket: string | undefined;
  /** The window that refused it; `nowhere`: it was refused for no reason. */
  readonly refusedBy: Charge['refusedBy'] | 'nowhere';
  /** What a page of machine metrics has that a client can use. */
  readonly pushes: readonly Push[];
}

/** In order of time. */
export type TrafficEvent =
  | { readonly kind: 'sent' | 'head' | 'end'; readonly at: number; readonly sent: Sent }
  /** The service has counted it. */
  | { readonly kind: 'counted'; readonly at: number; readonly sent: Sent; readonly counted: Counted }
  /** Another user of the account. */
  | { readonly kind: 'others'; readonly at: number; readonly requests: number }
  /** The limits of the account are others now. */
  | { readonly kind: 'plan'; readonly at: number }
  /** The process reads its configuration: when it starts, or because the operator asked for it. */
  | {
      readonly kind: 'start' | 'reload';
      readonly at: number;
      readonly process: number;
      readonly exporter: ExporterSetting;
    }
  | {
      readonly kind: 'ended';
      readonly at: number;
      readonly process: number;
      readonly why: string;
      readonly startedAt: number;
      /** When it was told to stop. */
      readonly stoppingSince: number | undefined;
      /** When it last ran again after a pause; -Infinity: it was never paused. */
      readonly pausedUntil: number;
    }
  /** The clock of the process is set. */
  | { readonly kind: 'step'; readonly at: number; readonly byMs: number };

/** What happens between the process and the service, and what else decides what may be sent. */
export class Traffic {
  readonly #events: TrafficEvent[] = [];
  #onEnded: ((sent: Sent) => void) | undefined;
  /** How many requests were sent. */
  requests = 0;
  /** When the clock of the process was set, and by how much. */
  readonly steps: { readonly at: number; readonly byMs: number }[] = [];
  /** How each process ended. */
  readonly ends = new Map<number, Extract<TrafficEvent, { kind: 'ended' }>>();

  note(event: TrafficEvent): void {
    this.#events.push(event);
    if (event.kind === 'sent') this.requests += 1;
    if (event.kind === 'step') this.steps.push(event);
    if (event.kind === 'ended') this.ends.set(event.process, event);
    if (event.kind === 'end') this.#onEnded?.(event.sent);
  }

  /** The events since this was last called. */
  take(): readonly TrafficEvent[] {
    return this.#events.splice(0);
  }

  stepsBetween(from: number, to: number): readonly { readonly at: number; readonly byMs: number }[] {
    return this.steps.filter(({ at }) => at >= from && at <= to);
  }

  /** Calls `act` once, when the process next has the whole of an answer that `isAwaited`. */
  onceEnded(isAwaited: (sent: Sent) => boolean, act: () => void): void {
    this.#onEnded = (sent) => {
      if (!isAwaited(sent)) return;
      this.#onEnded = undefined;
      act();
    };
  }
}

export function keyOf({ headers }: WireRequest): string {
  return headers['apikey'] ?? headers['authorization']?.replace(/^Bearer /, '') ?? '';
}
