import { routeOf } from '../api/client.ts';
import { ENDPOINTS, FAILURE_REASONS } from '../api/errors.ts';
import { allowedPerDay } from '../budget/bucket.ts';
import { bucketOf, emptyLedger, Ledger, opensAt, quotaIn } from '../budget/ledger.ts';
import { Exposition } from '../metrics/exposition.ts';
import { SelfMetrics } from '../metrics/self.ts';
import type { Totals } from '../metrics/totals.ts';
import type { Replica } from '../replica/replica.ts';
import { type Permits, type SourceView, viewsOf } from '../scheduler/views.ts';
import type { Source } from '../sources/source.ts';
import { type Entry, emptyEntry, entrySchema, sourceId } from '../state/entry.ts';
import { parseValue } from '../state/envelope.ts';
import { apiOptionsOf } from './connection.ts';
import type { Engine, EngineOptions } from './engine.ts';
import { isReady, problemOf } from './health.ts';
import { countedFamilies, type Knowledge, programFamilies } from './own-metrics.ts';
import { ATTEMPTS, expositionParts, OWN } from './parts.ts';
import { sourcesOf } from './sources.ts';
import { LEDGER, type Restored, SavedTotals, TOTALS, unreadable } from './state.ts';
import { statusPageOf } from './status-page.ts';
import { termsOf } from './terms.ts';

/**
 * Serves what another replica polls, and asks the API for nothing. It shows the same families, from the entries, the
 * ledger and the counters that the other one wrote.
 * @throws StateRefused where a process begins and cannot read them
 */
export async function startFollower(options: EngineOptions, replica: Replica): Promise<Engine> {
  const { config, key, clock, log, processMetrics, lastReload } = options;
  const sources = sourcesOf(config, log);
  const known = new Followed(sources, options.before);
  const terms = termsOf(config);
  const apiOptions = apiOptionsOf(config, key);
  const route = (source: Source): string => routeOf(apiOptions, source);
  const allowed = (bucket: string): number => allowedPerDay(known.ledger.buckets[bucket], terms, clock.now());
  const permits: Permits = {
    allowance: { bucketOf: (source) => bucketOf(known.ledger, route(source)), allowedPerDay: allowed },
    quotaOf: (bucket) => quotaIn(known.ledger, bucket, terms, clock.now()),
    opensAt: (source) => opensAt(known.ledger, route(source), terms, clock.now()),
  };
  const views = (): SourceView[] => viewsOf(known.sources(), permits, clock.now());

  const knowledge: Knowledge = { views, ledger: () => known.ledger, allowedPerDay: allowed, waitedMs: () => 0 };
  const nothing = new SelfMetrics({ endpoints: ENDPOINTS, reasons: FAILURE_REASONS });
  const own = async () => [
    ...(await countedFamilies(knowledge, nothing, known.totals)),
    ...programFamilies({ lastReload: lastReload(), stateWriteFailures: replica.writeFailures, isLeader: false }),
    ...(await processMetrics.families()),
  ];
  const exposition = new Exposition(expositionParts(views, own, clock), clock, (error) =>
    log.error({ err: String(error) }, 'metrics not rendered'),
  );
  const leave = replica.subscribe(
    {
      wanted: known.names,
      apply: (values) => {
        const unread = known.apply(values);
        for (const document of unread) log.warn({ document }, 'state not readable, the last is shown');
        exposition.touch(...new Set(sources.map(({ name }) => name)), ATTEMPTS, OWN);
      },
      rewrite: () => undefined,
      onLapse: () => undefined,
    },
    known.missing(),
  );
  await replica.refresh().catch((error: unknown) => {
    // What is known is shown all the same while the server is away; nothing known would be shown as zeros.
    if (!options.before) throw unreadable(error);
  });
  await exposition.refresh();

  const abort = new AbortController();
  const rendering = exposition.run(abort.signal);
  const page = statusPageOf({
    ...options,
    config: () => config,
    views,
    ledger: () => known.ledger,
    bucketOf: permits.allowance.bucketOf,
  });
  return {
    metrics: (format, gzipped) => exposition.chunks(format, gzipped),
    // Polls that are overdue are the other one's: to restart this one would not help.
    unhealthy: () => problemOf(clock.monotonic() - replica.heartbeatAt, undefined),
    ready: () => isReady(views(), clock.now()),
    status: (isRefreshing, gzipped) => page.bytes(isRefreshing, gzipped),
    touch: () => {
      exposition.touch(OWN);
      return exposition.shown();
    },
    stop: async () => {
      leave();
      abort.abort(new Error('stopping'));
      await rendering;
      return known;
    },
  };
}

/** What the polling replica wrote, as far as this one has read it. */
class Followed implements Restored {
  ledger: Ledger;
  totals: Totals;
  readonly entries: Map<string, Entry>;
  readonly #sources: readonly Source[];
  readonly #seen = new Set<string>();

  constructor(sources: readonly Source[], before: Restored | undefined) {
    this.#sources = sources;
    this.ledger = before?.ledger ?? emptyLedger();
    this.totals = before?.totals ?? [];
    this.entries = new Map(before?.entries);
    if (before) for (const name of [LEDGER, TOTALS, ...this.entries.keys()]) this.#seen.add(name);
  }

  /** Of every document that is of interest. */
  get names(): string[] {
    return [LEDGER, TOTALS, ...this.#sources.map(sourceId)];
  }

  missing(): string[] {
    return this.names.filter((name) => !this.#seen.has(name));
  }

  sources(): { source: Source; shown: Entry; known: Entry; running: boolean }[] {
    return this.#sources.map((source) => {
      const entry = this.entries.get(sourceId(source)) ?? emptyEntry(source);
      return { source, shown: entry, known: entry, running: false };
    });
  }

  /** Takes what it can read, and returns the names of the rest. */
  apply(values: ReadonlyMap<string, unknown>): string[] {
    return [...values].filter(([name, value]) => !this.#take(name, value)).map(([name]) => name);
  }

  #take(name: string, value: unknown): boolean {
    if (name === LEDGER) {
      const ledger = parseValue(value, Ledger);
      if (ledger.success) this.ledger = ledger.data;
      return ledger.success;
    }
    if (name === TOTALS) {
      const totals = parseValue(value, SavedTotals);
      if (totals.success) this.totals = totals.data;
      return totals.success;
    }
    const source = this.#sources.find((one) => sourceId(one) === name);
    const entry = source && parseValue(value, entrySchema(source));
    if (entry?.success) this.entries.set(name, entry.data);
    return entry?.success ?? false;
  }
}
