import { isDeepStrictEqual } from 'node:util';
import { ENDPOINTS, FAILURE_REASONS } from '../api/errors.ts';
import type { Proxies } from '../api/transport.ts';
import { type Ledger, limitsOf, quotaIn } from '../budget/ledger.ts';
import { RateLimiter } from '../budget/rate-limiter.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { Stopper } from '../lib/stop.ts';
import type { Format } from '../metrics/encode.ts';
import { Exposition } from '../metrics/exposition.ts';
import { type ProcessMetrics, SelfMetrics } from '../metrics/self.ts';
import { LeaseLost } from '../replica/lease.ts';
import type { Replica } from '../replica/replica.ts';
import { Scheduler } from '../scheduler/scheduler.ts';
import { sourceId } from '../state/entry.ts';
import { LatestWriter } from '../state/latest.ts';
import type { StateStore } from '../state/store.ts';
import { Connection } from './connection.ts';
import { isReady, problemOf } from './health.ts';
import { leased } from './leased.ts';
import type { LastReload } from './own-families.ts';
import { knowledgeOf, OwnMetrics } from './own-metrics.ts';
import { ALL_PARTS, ATTEMPTS, expositionParts, OWN } from './parts.ts';
import { logPlan, logWaits } from './plan-log.ts';
import { sourcesOf } from './sources.ts';
import { LEDGER, type Restored, restore, restoreEntries, underKey } from './state.ts';
import { statusPageOf } from './status-page.ts';
import { termsOf } from './terms.ts';

/** What the operator decides, and may decide anew while the program runs. */
export interface Settings {
  readonly config: Config;
  readonly key: string;
}

export interface EngineOptions extends Settings {
  readonly clock: Clock;
  readonly log: Logger;
  readonly documents: StateStore;
  /** The documents again, where several processes share them. */
  readonly replica?: Replica | undefined;
  /** By default none. */
  readonly proxies?: Proxies | undefined;
  readonly processMetrics: ProcessMetrics;
  readonly lastReload: () => LastReload;
  /** When the process began, Unix ms. */
  readonly startedAt: number;
  /** Unix ms at which the operator started the program; default: now. */
  readonly operatorAt?: number;
  /** What the engine before this one in the same process knew; what it lacks is read from the documents. */
  readonly before?: Restored;
}

/** Polls, keeps and renders: everything that depends on the configuration, apart from the server. */
export interface Engine {
  metrics(format: Format, gzipped: boolean): readonly Buffer[];
  /** Undefined: healthy; else why not. */
  unhealthy(): string | undefined;
  ready(): boolean;
  status(isRefreshing: boolean, gzipped: boolean): Promise<Buffer>;
  /** The exporter's own metrics have changed; resolves when they are shown. */
  touch(): Promise<void>;
  /**
   * Goes on with what the operator gave at that time, Unix ms. Polls in progress end as they began, but for those of
   * sources that are gone or ask elsewhere. Absent where nothing is polled. @throws StateRefused: then nothing has changed.
   */
  adopt?(next: Settings, reloadedAt: number): Promise<void>;
  /** Aborts what is in flight, writes what is known and hands it over. */
  stop(): Promise<Restored>;
}

/** Resolves when the exposition is complete, with what was known from before. @throws StateRefused */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const { config, key, clock, log, documents, replica, operatorAt = clock.now() } = options;
  let settings: Settings = { config, key };
  const stopper = new Stopper();
  const abort = new AbortController();
  const sources = sourcesOf(config, log);
  const { ledger, entries, totals } = await restore(documents, sources, key, operatorAt, options.before);

  let ledgerFailures = 0;
  const ledgerWriter = new LatestWriter(
    () => documents.save(LEDGER, rateLimiter.ledger),
    (error) => {
      ledgerFailures += 1;
      // Replicas are told at once that the server is away.
      if (!replica) log.error({ err: String(error) }, 'ledger not written');
    },
  );
  stopper.add(() => ledgerWriter.flush());
  const rateLimiter = new RateLimiter(termsOf(config), {
    clock,
    ledger,
    onChange: () => ledgerWriter.touch(),
    keep: () => ledgerWriter.flush(),
  });
  logStanding(log, rateLimiter.ledger);
  const self = new SelfMetrics({ endpoints: ENDPOINTS, reasons: FAILURE_REASONS });
  const budget = replica ? leased(rateLimiter, replica) : rateLimiter;
  const deps = { budget, observer: self, clock, random: Math.random };
  const connection = new Connection(settings, options.proxies, deps);
  stopper.add(() => connection.close());

  const scheduler = new Scheduler(sources, entries, {
    api: connection.api,
    clock,
    log,
    store: { save: (id, entry) => documents.save(id, entry) },
    allowance: {
      bucketOf: (source) => rateLimiter.bucketOf(connection.routeOf(source)),
      allowedPerDay: (bucket) => rateLimiter.allowedPerDay(bucket),
    },
    quotaOf: (bucket) => quotaIn(rateLimiter.ledger, bucket, termsOf(settings.config), clock.now()),
    opensAt: (source) => rateLimiter.opensAt(connection.routeOf(source)),
    limits: () => limitsOf(rateLimiter.ledger),
    limitsKnown: () => rateLimiter.ledger.key.standing !== 'unknown',
    onPlan: (paces) => logPlan(log, paces),
    onWait: (waits) => logWaits(log, waits),
    onChange: ({ name }) => exposition.touch(name, ATTEMPTS),
  });
  const own = new OwnMetrics({
    knowledge: knowledgeOf(scheduler, rateLimiter),
    self,
    clock,
    lastReload: options.lastReload,
    processMetrics: options.processMetrics,
    documents,
    totals,
    writeFailures: () => replica?.writeFailures ?? scheduler.saveFailures + ledgerFailures,
    isShared: replica !== undefined,
  });
  const exposition = new Exposition(
    expositionParts(
      () => scheduler.views(),
      () => own.families(),
      clock,
    ),
    clock,
    (error) => log.error({ err: String(error) }, 'metrics not rendered'),
  );
  if (replica) {
    const rewrite = (): void => {
      scheduler.saveAgain(abort.signal);
      ledgerWriter.touch();
      own.writeAgain();
    };
    const onLapse = (): void => abort.abort(new LeaseLost());
    stopper.add(replica.subscribe({ wanted: [], apply: () => undefined, rewrite, onLapse }, []));
    if (replica.leads()) {
      // What the server has may be older than what this replica has seen.
      rewrite();
    } else onLapse();
  }
  await exposition.refresh();

  const loops = [scheduler.run(abort.signal), exposition.run(abort.signal)];
  stopper.add(async () => {
    abort.abort(new Error('stopping'));
    await Promise.all(loops);
  });
  const page = statusPageOf({
    ...options,
    config: () => settings.config,
    views: () => scheduler.views(),
    ledger: () => rateLimiter.ledger,
    bucketOf: (source) => rateLimiter.bucketOf(connection.routeOf(source)),
  });

  async function adopt(next: Settings, reloadedAt: number): Promise<void> {
    const after = sourcesOf(next.config, log);
    const ids = new Set(after.map(sourceId));
    const known = await restoreEntries(documents, after, scheduler.entries());
    await scheduler.interrupt((source) => !ids.has(sourceId(source)) || connection.isOtherFor(source, next));
    // From here on without a wait: nobody sees a half of it.
    const account = { ledger: rateLimiter.ledger, entries: new Map([...known, ...scheduler.entries()]) };
    const { ledger, entries } = underKey(account, next.key, reloadedAt);
    connection.adopt(next);
    rateLimiter.adopt(termsOf(next.config), ledger);
    scheduler.adopt(after, entries);
    logStanding(log, ledger);
    if (isChange(settings, next)) exposition.touch(...ALL_PARTS);
    settings = next;
  }

  const heartbeatAt = (): number => Math.min(scheduler.heartbeatAt, replica?.heartbeatAt ?? Number.POSITIVE_INFINITY);
  return {
    metrics: (format, gzipped) => exposition.chunks(format, gzipped),
    unhealthy: () => problemOf(clock.monotonic() - heartbeatAt(), scheduler.overdue),
    ready: () => isReady(scheduler.views(), clock.now()),
    status: (isRefreshing, gzipped) => page.bytes(isRefreshing, gzipped),
    touch: () => {
      exposition.touch(OWN);
      return exposition.shown();
    },
    adopt,
    stop: async () => {
      await stopper.stop();
      return { ledger: rateLimiter.ledger, entries: scheduler.entries(), totals: await own.totals() };
    },
  };
}

/** Whether the operator gave something else. */
export function isChange(before: Settings, after: Settings): boolean {
  return before.key !== after.key || !isDeepStrictEqual(before.config, after.config);
}

/** Nothing will be polled and nothing fail: without a word the program would look as if it hung. */
function logStanding(log: Logger, { key }: Ledger): void {
  if (key.standing !== 'revoked' || key.mayProbe) return;
  const since = new Date(key.since).toISOString();
  log.warn({ since }, 'access is revoked: no request before another key, or a start or reload ten minutes later');
}
