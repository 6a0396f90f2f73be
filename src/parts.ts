import type { Pacer } from './budget/pacer.ts';
import type { Clock } from './lib/clock.ts';
import type { Part } from './metrics/exposition.ts';
import { type Family, mergeFamilies } from './metrics/family.ts';
import type { SelfMetrics } from './metrics/self.ts';
import { type Totals, totalsOf, withTotals } from './metrics/totals.ts';
import { accountFamilies, budgetFamilies, exporterFamilies, sourceFamilies } from './own-families.ts';
import type { Scheduler, SourceView } from './scheduler/scheduler.ts';
import type { Documents } from './snapshot/file.ts';
import { TOTALS } from './state.ts';
import { REVISION, VERSION } from './version.ts';

export interface PartsOptions {
  readonly scheduler: Scheduler;
  readonly pacer: Pacer;
  readonly self: SelfMetrics;
  readonly clock: Clock;
  readonly documents: Documents;
  /** The exporter's own counters as earlier processes left them. */
  readonly totals: Totals;
  /** Times that the state could not be written. */
  readonly writeFailures: () => number;
  /** Unix ms. */
  readonly configLoadedAt: number;
}

/** The part that says how the sources do: it changes with each of them. */
export const ATTEMPTS = 'attempts';
const OWN_REFRESH_MS = 1_000;

/** /metrics in the order in which it is shown: a part for each kind of source, and the exporter's own. */
export function expositionParts(options: PartsOptions): Part[] {
  const { scheduler, clock } = options;
  const names = new Set(scheduler.views().map(({ source }) => source.name));
  const soon = (): number => clock.now() + OWN_REFRESH_MS;
  const viewsOf = (name: string): SourceView[] => scheduler.views().filter(({ source }) => source.name === name);
  return [
    ...[...names].map((name) => ({
      name,
      families: () => joined(viewsOf(name).map(({ source, entry, timing }) => source.families(entry.value, timing))),
      nextChange: () =>
        Math.min(...viewsOf(name).map(({ source, entry, timing }) => source.nextChange(entry.value, timing))),
    })),
    { name: ATTEMPTS, families: () => sourceFamilies(scheduler.views()), nextChange: soon },
    { name: 'own', families: ownMetrics(options), nextChange: soon },
  ];
}

/** The families of one source stay as lazy as they are. */
function joined([first = [], ...others]: readonly Family[][]): Family[] {
  return others.length === 0 ? first : mergeFamilies([first, ...others].flat());
}

/**
 * The exporter's own metrics. Its counters go on over a restart, so each sum is written before it is shown; where it cannot
 * be written it is shown all the same, because that is how the failure is seen.
 */
function ownMetrics(options: PartsOptions): () => Promise<Family[]> {
  const { scheduler, pacer, self, configLoadedAt, documents } = options;
  let written = '';
  let failures = 0;
  return async () => {
    const { ledger } = pacer;
    const stateWriteFailures = options.writeFailures() + failures;
    const ours = withTotals(
      [
        ...accountFamilies(ledger),
        ...budgetFamilies(scheduler.views(), {
          allowedPerDay: new Map(Object.keys(ledger.buckets).map((bucket) => [bucket, pacer.allowedPerDay(bucket)])),
          waitedSeconds: pacer.waitedMs / 1000,
        }),
        ...exporterFamilies({ version: VERSION, revision: REVISION, configLoadedAt, stateWriteFailures }),
        ...(await self.families()),
      ],
      options.totals,
    );
    const totals = totalsOf(ours);
    const text = JSON.stringify(totals);
    if (text !== written) {
      try {
        await documents.save(TOTALS, totals, 'process');
        written = text;
      } catch {
        failures += 1;
      }
    }
    return [...ours, ...(await self.processFamilies())];
  };
}
