import { Fleet, type FleetRequest } from '../../support/model/fleet.ts';
import type { ServiceSetting } from './setting.ts';

/** A record as a client reads it. */
export interface Push {
  readonly machine: string;
  /** `system`, `validator` or `node`. */
  readonly array: string;
  /** Unix ms. */
  readonly time: number;
}

interface Answer {
  readonly data: Readonly<Record<string, readonly { readonly machine: string; readonly timestamp: number }[]>>;
}

/** The fleet of an account. It knows when each machine pushes, and its pages can be shorter than requested. */
export class Machines extends Fleet {
  readonly #longestPage: number;
  readonly #spans = new Map<string, { from: number; until: number }>();

  constructor({ seed, missing, pageSizeOver, lag, longestPage, machines }: ServiceSetting) {
    const lateMs = (id: number): number => (lag.of === 'all' || (lag.of === 'one' && id === 0) ? lag.ms : 0);
    super({ machines: 0, seed, missing: { machine: missing }, pageSizeOver, lateMs });
    this.#longestPage = longestPage;
    for (const name of machines) this.add(name, Number.NEGATIVE_INFINITY);
  }

  override add(name: string, from: number): void {
    super.add(name, from);
    this.#spans.set(name, { from, until: Number.POSITIVE_INFINITY });
  }

  override silence(name: string, at: number): void {
    const span = this.lastSpan(name);
    if (span.until <= at) return;
    super.silence(name, at);
    span.until = at;
  }

  override wake(name: string, at: number): void {
    if (this.lastSpan(name).until > at) return;
    super.wake(name, at);
    this.#spans.set(name, { from: at, until: Number.POSITIVE_INFINITY });
  }

  /** When a machine last began to push, and when it stops, Unix ms. */
  lastSpan(name: string): { readonly from: number; until: number } {
    const span = this.#spans.get(name);
    if (!span) throw new RangeError(`no machine is called ${name}`);
    return span;
  }

  /** A page. undefined: a bad request, such as a cursor of another sequence. */
  page(body: string, now: number): string | undefined {
    try {
      const request: FleetRequest = JSON.parse(body);
      return this.answer({ ...request, page_size: Math.min(request.page_size, this.#longestPage) }, now);
    } catch {
      return undefined;
    }
  }
}

/** The records of a page. */
export function pushesIn(page: string): Push[] {
  const { data }: Answer = JSON.parse(page);
  return Object.entries(data).flatMap(([name, records]) =>
    records.map(({ machine, timestamp }) => ({ machine, array: name.replace('_metrics', ''), time: timestamp })),
  );
}
