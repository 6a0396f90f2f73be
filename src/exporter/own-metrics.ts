import type { Ledger } from '../budget/ledger.ts';
import type { RateLimiter } from '../budget/rate-limiter.ts';
import type { Clock } from '../lib/clock.ts';
import { REVISION, VERSION } from '../lib/version.ts';
import type { Family } from '../metrics/family.ts';
import type { ProcessMetrics, SelfMetrics } from '../metrics/self.ts';
import { type Totals, totalsOf, withCountersOf, withTotals } from '../metrics/totals.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { SourceView } from '../scheduler/views.ts';
import type { StateStore } from '../state/store.ts';
import {
  accountFamilies,
  budgetFamilies,
  type ExporterFigures,
  exporterFamilies,
  type LastReload,
  STATE_WRITE_FAILURES,
} from './own-families.ts';
import { TOTALS } from './state.ts';

/** What the exporter's own metrics are read from. */
export interface Knowledge {
  views(): SourceView[];
  ledger(): Ledger;
  /** Requests per day that the limits leave this exporter on a bucket. */
  allowedPerDay(bucket: string): number;
  waitedMs(): number;
}

/** Of the process that polls. */
export function knowledgeOf(scheduler: Scheduler, rateLimiter: RateLimiter): Knowledge {
  return {
    views: () => scheduler.views(),
    ledger: () => rateLimiter.ledger,
    allowedPerDay: (bucket) => rateLimiter.allowedPerDay(bucket),
    waitedMs: () => rateLimiter.waitedMs,
  };
}

export interface OwnMetricsOptions {
  readonly knowledge: Knowledge;
  readonly self: SelfMetrics;
  readonly clock: Clock;
  readonly documents: StateStore;
  /** The exporter's own counters as earlier processes left them. */
  readonly totals: Totals;
  /** Times that other state could not be written. */
  readonly writeFailures: () => number;
  readonly processMetrics: ProcessMetrics;
  readonly lastReload: () => LastReload;
  /**
   * Among replicas the counters belong to all of them. How often a write failed each counts for itself.
   */
  readonly isShared: boolean;
}

/** What is counted of account, budget and requests, from where earlier processes left off. */
export async function countedFamilies(
  knowledge: Knowledge,
  self: SelfMetrics,
  totals: Totals,
  others: readonly Family[] = [],
): Promise<Family[]> {
  const ledger = knowledge.ledger();
  const families = [
    ...accountFamilies(ledger),
    ...budgetFamilies(knowledge.views(), {
      allowedPerDay: new Map(Object.keys(ledger.buckets).map((bucket) => [bucket, knowledge.allowedPerDay(bucket)])),
      waitedSeconds: knowledge.waitedMs() / 1000,
    }),
    ...others,
    ...(await self.families()),
  ];
  return withTotals(families, totals);
}

/** beaconchain_exporter_* of this program. */
export function programFamilies(figures: Omit<ExporterFigures, 'version' | 'revision'>): Family[] {
  return exporterFamilies({ ...figures, version: VERSION, revision: REVISION });
}

/** A disk that takes longer must not hold up what else is to be shown or withdrawn. */
const SLOW_DISK_MS = 500;

/**
 * The exporter's own metrics. Its counters go on over a restart, so each sum is written before it is shown: until it is,
 * what was shown last stays. Only the count of failed writes is shown at once, because that is how the failure is seen.
 */
export class OwnMetrics {
  readonly #options: OwnMetricsOptions;
  /** Undefined before the first time: then nothing was counted yet beyond what was restored. */
  #shown: Family[] | undefined;
  #writing: Promise<void> | undefined;
  /** The counters that were written last. */
  #settled = '';
  #failures = 0;

  constructor(options: OwnMetricsOptions) {
    this.#options = options;
  }

  async families(): Promise<Family[]> {
    const { isShared, processMetrics } = this.#options;
    const ours = await this.#collect();
    const text = JSON.stringify(totalsOf(ours));
    this.#shown ??= ours;
    if (text === this.#settled) this.#shown = ours;
    else await this.#write(ours, text);
    const exporter = isShared ? this.#exporter() : [];
    const atOnce = ours.filter(({ name }) => name === STATE_WRITE_FAILURES);
    return [...withCountersOf(ours, [...this.#shown, ...atOnce]), ...exporter, ...(await processMetrics.families())];
  }

  /** The counters as they are now, shown or not; among replicas those that were written. */
  async totals(): Promise<Totals> {
    if (!this.#options.isShared) return totalsOf(await this.#collect());
    await this.families();
    return totalsOf(this.#shown ?? []);
  }

  /** What was written may be lost. */
  writeAgain(): void {
    this.#settled = '';
  }

  #collect(): Promise<Family[]> {
    const { knowledge, self, totals, isShared } = this.#options;
    return countedFamilies(knowledge, self, totals, isShared ? [] : this.#exporter());
  }

  #exporter(): Family[] {
    const { lastReload, writeFailures, isShared } = this.#options;
    const stateWriteFailures = writeFailures() + (isShared ? 0 : this.#failures);
    return programFamilies({ lastReload: lastReload(), stateWriteFailures, isLeader: true });
  }

  async #write(ours: Family[], text: string): Promise<void> {
    const { documents, clock } = this.#options;
    this.#writing ??= documents
      .save(TOTALS, JSON.parse(text))
      .then(
        () => {
          this.#shown = ours;
          this.#settled = text;
        },
        () => {
          this.#failures += 1;
        },
      )
      .finally(() => {
        this.#writing = undefined;
      });
    const patience = new AbortController();
    await Promise.race([this.#writing, clock.sleep(SLOW_DISK_MS, patience.signal).catch(() => undefined)]);
    patience.abort();
  }
}
