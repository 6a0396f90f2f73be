import type { Pacer } from './budget/pacer.ts';
import type { Clock } from './lib/clock.ts';
import type { Family } from './metrics/family.ts';
import type { ProcessMetrics, SelfMetrics } from './metrics/self.ts';
import { type Totals, totalsOf, withTotals } from './metrics/totals.ts';
import { accountFamilies, budgetFamilies, exporterFamilies, type LastReload } from './own-families.ts';
import type { Scheduler } from './scheduler/scheduler.ts';
import type { Documents } from './snapshot/file.ts';
import { TOTALS } from './state.ts';
import { REVISION, VERSION } from './version.ts';

export interface OwnMetricsOptions {
  readonly scheduler: Scheduler;
  readonly pacer: Pacer;
  readonly self: SelfMetrics;
  readonly clock: Clock;
  readonly documents: Documents;
  /** The exporter's own counters as earlier processes left them. */
  readonly totals: Totals;
  /** Times that other state could not be written. */
  readonly writeFailures: () => number;
  readonly processMetrics: ProcessMetrics;
  readonly lastReload: () => LastReload;
}

/** A disk that takes longer must not hold up what else is to be shown or withdrawn. */
const SLOW_DISK_MS = 500;

/**
 * The exporter's own metrics. Its counters go on over a restart, so each sum is written before it is shown: while a write
 * is under way, what was shown last stays. Where a write fails they are shown all the same, because that is how the
 * failure is seen.
 */
export class OwnMetrics {
  readonly #options: OwnMetricsOptions;
  /** Undefined before the first time: then nothing was counted yet beyond what was restored. */
  #shown: Family[] | undefined;
  #writing: Promise<void> | undefined;
  /** The counters that were written last, or could not be. */
  #settled = '';
  #failures = 0;

  constructor(options: OwnMetricsOptions) {
    this.#options = options;
  }

  async families(): Promise<Family[]> {
    const ours = await this.#collect();
    const text = JSON.stringify(totalsOf(ours));
    this.#shown ??= ours;
    if (text === this.#settled) this.#shown = ours;
    else await this.#write(ours, text);
    return [...this.#shown, ...(await this.#options.processMetrics.families())];
  }

  /** The counters as they are now, shown or not. */
  async totals(): Promise<Totals> {
    return totalsOf(await this.#collect());
  }

  async #collect(): Promise<Family[]> {
    const { scheduler, pacer, self, lastReload, totals, writeFailures } = this.#options;
    const { ledger } = pacer;
    const stateWriteFailures = writeFailures() + this.#failures;
    const buckets = Object.keys(ledger.buckets);
    const families = [
      ...accountFamilies(ledger),
      ...budgetFamilies(scheduler.views(), {
        allowedPerDay: new Map(buckets.map((bucket) => [bucket, pacer.allowedPerDay(bucket)])),
        waitedSeconds: pacer.waitedMs / 1000,
      }),
      ...exporterFamilies({ version: VERSION, revision: REVISION, lastReload: lastReload(), stateWriteFailures }),
      ...(await self.families()),
    ];
    return withTotals(families, totals);
  }

  async #write(ours: Family[], text: string): Promise<void> {
    const { documents, clock } = this.#options;
    this.#writing ??= documents
      .save(TOTALS, JSON.parse(text), 'process')
      .catch(() => {
        this.#failures += 1;
      })
      .then(() => {
        this.#shown = ours;
        this.#settled = text;
        this.#writing = undefined;
      });
    const patience = new AbortController();
    await Promise.race([this.#writing, clock.sleep(SLOW_DISK_MS, patience.signal).catch(() => undefined)]);
    patience.abort();
  }
}
