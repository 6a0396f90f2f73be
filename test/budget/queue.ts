import { allowedPerDay, type BudgetOptions } from '../../src/budget/bucket.ts';
import { emptyLedger, type Ledger, opensAt } from '../../src/budget/ledger.ts';
import type { Priority } from '../../src/budget/permit.ts';
import { BudgetClosed, type Permit } from '../../src/budget/permit.ts';
import { RateLimiter } from '../../src/budget/rate-limiter.ts';
import type { Clock } from '../../src/toolkit/lib/clock.ts';
import { NOW } from '../support/time/timing.ts';
import { VirtualClock } from '../support/time/virtual-clock.ts';

export const ROUTE = 'machine_metrics https://v2';

interface Asked {
  readonly route?: string;
  readonly priority?: Priority;
  readonly signal?: AbortSignal;
}

/** A rate limiter on a virtual clock, and a log of what happened to each request. */
export class Queue {
  readonly clock = new VirtualClock(NOW);
  readonly rateLimiter: RateLimiter;
  /** In order: `name` when a request left, `name: closed until <ms from now>` or `name: <error>` if it was refused. */
  readonly log: string[] = [];
  /** How long each request that left had waited, in seconds. */
  readonly waits: number[] = [];
  readonly #options: BudgetOptions;
  readonly #permits = new Map<string, Permit>();

  constructor(
    options: Partial<BudgetOptions> & {
      ledger?: Ledger;
      clock?: (clock: Clock) => Clock;
      keep?: () => Promise<void>;
    } = {},
  ) {
    const { ledger = emptyLedger(), clock = (same) => same, keep = async () => undefined, ...rest } = options;
    this.#options = { utilization: 1, ...rest };
    this.rateLimiter = new RateLimiter(this.#options, {
      clock: clock(this.clock),
      ledger,
      keep,
      onWait: (seconds) => this.waits.push(seconds),
    });
  }

  /** When a request may leave if no others wait, Unix ms. */
  opensAt(route = ROUTE): number {
    return opensAt(this.rateLimiter.settleLedger(), route, this.#options, this.clock.now());
  }

  /** Requests per day that the limits of a bucket leave. */
  allowedPerDay(bucket: string): number {
    return allowedPerDay(this.rateLimiter.settleLedger().buckets[bucket], this.#options, this.clock.now());
  }

  /** Asks for a permit. No time passes. */
  async ask(name: string, { route = ROUTE, priority = 'fleet', signal = new AbortController().signal }: Asked = {}) {
    this.rateLimiter.acquire({ route, priority }, signal).then(
      (permit) => {
        this.#permits.set(name, permit);
        this.log.push(name);
      },
      (error: unknown) => {
        const closed = error instanceof BudgetClosed;
        this.log.push(`${name}: ${closed ? `closed until ${error.until - this.clock.now()}` : String(error)}`);
      },
    );
    await this.clock.advance(0);
  }

  /** Sends a request and answers it. No time passes. */
  async exchange(name: string, status: number, headers: Record<string, string> = {}, asked: Asked = {}): Promise<void> {
    await this.ask(name, asked);
    await this.answer(name, status, headers);
  }

  /** Answers a request that left. Without a status the answer is lost. No time passes. */
  async answer(name: string, status?: number, headers: Record<string, string> = {}): Promise<void> {
    const permit = this.#permits.get(name);
    if (!permit) throw new Error(`${name} has not left`);
    permit.release(status === undefined ? undefined : { status, headers });
    await this.clock.advance(0);
  }
}

export function bucket(name: string, perSecond: number): Record<string, string> {
  return { 'ratelimit-bucket': name, 'x-ratelimit-limit-second': String(perSecond) };
}
