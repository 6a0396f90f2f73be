import { ENDPOINTS, type Endpoint, FAILURE_REASONS } from '../api/errors.ts';
import type { Config } from '../config/config.ts';
import { type Clock, within } from '../lib/clock.ts';
import { SelfMetrics } from '../metrics/self.ts';
import { type Totals, totalOf, withTotals } from '../metrics/totals.ts';
import { STATE_WRITE_FAILURES } from './own-families.ts';

export interface CountersOptions {
  readonly config: Config;
  /** What earlier processes counted. */
  readonly earlier: Totals;
  /** What this process has counted, apart from requests. */
  readonly others: () => Others;
  readonly save: (totals: Totals) => Promise<void>;
  readonly clock: Clock;
}

/** The endpoints that this configuration can use. */
export function endpointsOf({ slashings, syncCommittee }: Config): Endpoint[] {
  return [
    ...ENDPOINTS,
    ...(syncCommittee.enabled && syncCommittee.members ? (['sync_committee_members'] as const) : []),
    ...(slashings.enabled && slashings.proposerNames ? (['proposer_slashings'] as const) : []),
  ];
}

/** Counts the requests of this process. */
export function newRequestCounts(config: Config): SelfMetrics {
  return new SelfMetrics({ endpoints: endpointsOf(config), reasons: FAILURE_REASONS });
}

/** Counters without labels, by name. */
type Others = Readonly<Record<string, number>>;

/** What this process and those before it have counted. */
export async function sumsOf(requests: SelfMetrics, others: Others, earlier: Totals): Promise<Totals> {
  const counts = Object.entries(others).map(([name, value]) => ({ name, samples: [{ labels: {}, value }] }));
  return withTotals([...counts, ...(await requests.totals())], earlier);
}

/** The maximum time for which a slow disk delays the rest of /metrics. */
const SLOW_DISK_MS = 500;

/**
 * The exporter's own counters. They continue after a restart, so each sum is written before it is shown. Until then the
 * previous one stays.
 */
export class Counters {
  /** Observes the requests. */
  readonly requests: SelfMetrics;
  readonly #options: CountersOptions;
  /** Undefined before the first write; then the totals of earlier processes are shown. */
  #shown: Totals | undefined;
  #writing: Promise<void> | undefined;
  /** The sums that were written last. */
  #written = '';
  #writeFailures = 0;

  constructor(options: CountersOptions) {
    this.#options = options;
    this.requests = newRequestCounts(options.config);
  }

  /** How often they could not be written. */
  get writeFailures(): number {
    return this.#writeFailures;
  }

  /** The sums that may be shown. */
  get shown(): Totals {
    return this.#shown ?? this.#options.earlier;
  }

  /** The sums as they are now, shown or not. */
  sums(): Promise<Totals> {
    return sumsOf(this.requests, this.#options.others(), this.#options.earlier);
  }

  /** Writes the current sums, then shows them, unless the write fails or is slow. Returns all failed writes, shown or not. */
  async write(): Promise<number> {
    const now = await this.sums();
    const text = JSON.stringify(now);
    this.#shown ??= now;
    if (text === this.#written) this.#shown = now;
    else await this.#write(now, text);
    return totalOf(STATE_WRITE_FAILURES, now);
  }

  /**
   * Writes the current sums and waits until the write is done, however slow it is: sums that another process may
   * already have read must not be handed over as unwritten.
   */
  async finish(): Promise<Totals> {
    await this.write();
    await this.#writing;
    return this.shown;
  }

  /** Makes the next `write` write, because what was written may be lost. */
  writeAgain(): void {
    this.#written = '';
  }

  async #write(now: Totals, text: string): Promise<void> {
    const { save, clock } = this.#options;
    this.#writing ??= save(now)
      .then(
        () => {
          this.#shown = now;
          this.#written = text;
        },
        () => {
          this.#writeFailures += 1;
        },
      )
      .finally(() => {
        this.#writing = undefined;
      });
    await within(clock, SLOW_DISK_MS, this.#writing, () => undefined);
  }
}
