import { type ApiOptions, createApi, laneOf } from './api/client.ts';
import { ENDPOINTS, FAILURE_REASONS } from './api/errors.ts';
import { createTransport } from './api/transport.ts';
import { type Ledger, limitsOf } from './budget/ledger.ts';
import { Pacer } from './budget/pacer.ts';
import type { Config } from './config/config.ts';
import { isReady, problemOf } from './health.ts';
import { leased } from './leased.ts';
import type { Clock } from './lib/clock.ts';
import type { Logger } from './lib/log.ts';
import { Stopper } from './lib/stop.ts';
import type { Format } from './metrics/encode.ts';
import { Exposition } from './metrics/exposition.ts';
import { type ProcessMetrics, SelfMetrics } from './metrics/self.ts';
import type { LastReload } from './own-families.ts';
import { knowledgeOf, OwnMetrics } from './own-metrics.ts';
import { ATTEMPTS, expositionParts, OWN } from './parts.ts';
import { logPlan } from './plan-log.ts';
import { Scheduler } from './scheduler/scheduler.ts';
import type { Documents } from './snapshot/file.ts';
import { LatestWriter } from './snapshot/latest.ts';
import { LeaseLost } from './snapshot/lease.ts';
import type { Replica } from './snapshot/replica.ts';
import { sourcesOf } from './sources.ts';
import { LEDGER, type Restored, restore } from './state.ts';
import { statusPageOf } from './status-page.ts';
import { termsOf } from './terms.ts';
import { VERSION } from './version.ts';

/** What an engine runs with; another configuration or key takes another engine. */
export interface Settings {
  readonly config: Config;
  readonly key: string;
}

export interface EngineOptions extends Settings {
  readonly clock: Clock;
  readonly log: Logger;
  readonly documents: Documents;
  /** The documents again, where several processes share them. */
  readonly replica?: Replica | undefined;
  readonly processMetrics: ProcessMetrics;
  readonly lastReload: () => LastReload;
  /** When the process began, Unix ms. */
  readonly startedAt: number;
  /** Unix ms at which the operator started the program, or had it read its configuration again; default: now. */
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
  /** Aborts what is in flight, writes what is known and hands it over. */
  stop(): Promise<Restored>;
}

/** Resolves when the exposition is complete, with what was known from before. @throws StateRefused */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const { config, key, clock, log, documents, replica, operatorAt = clock.now() } = options;
  const stopper = new Stopper();
  const abort = new AbortController();
  const sources = sourcesOf(config, log);
  const { ledger, entries, totals } = await restore(documents, sources, key, operatorAt, options.before);

  let ledgerFailures = 0;
  const ledgerWriter = new LatestWriter(
    () => documents.save(LEDGER, pacer.ledger),
    (error) => {
      ledgerFailures += 1;
      // Replicas are told at once that the server is away.
      if (!replica) log.error({ err: String(error) }, 'ledger not written');
    },
  );
  stopper.add(() => ledgerWriter.flush());
  const pacer = new Pacer(termsOf(config), {
    clock,
    ledger,
    onChange: () => ledgerWriter.touch(),
    keep: () => ledgerWriter.flush(),
  });
  logStanding(log, pacer.ledger);
  const self = new SelfMetrics({ endpoints: ENDPOINTS, reasons: FAILURE_REASONS });
  const transport = createTransport({ timeoutMs: config.api.timeoutMs });
  stopper.add(() => transport.close());
  const apiOptions = apiOptionsOf(config, key);
  const api = createApi(apiOptions, {
    budget: replica ? leased(pacer, replica) : pacer,
    transport: transport.send,
    observer: self,
    clock,
    random: Math.random,
  });

  const scheduler = new Scheduler(sources, entries, {
    api,
    clock,
    log,
    store: { save: (id, entry) => documents.save(id, entry) },
    allowance: {
      bucketOf: (source) => pacer.bucketOf(laneOf(apiOptions, source)),
      allowedPerDay: (bucket) => pacer.allowedPerDay(bucket),
    },
    opensAt: (source) => pacer.opensAt(laneOf(apiOptions, source)),
    limits: () => limitsOf(pacer.ledger),
    isInformed: () => pacer.ledger.key.standing !== 'unknown',
    onPlan: (paces) => logPlan(log, paces),
    onChange: ({ name }) => exposition.touch(name, ATTEMPTS),
  });
  const own = new OwnMetrics({
    knowledge: knowledgeOf(scheduler, pacer),
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
    const onDoubt = (): void => {
      scheduler.saveAgain(abort.signal);
      ledgerWriter.touch();
      own.writeAgain();
    };
    const onLapse = (): void => abort.abort(new LeaseLost());
    stopper.add(replica.join({ wanted: [], apply: () => undefined, onDoubt, onLapse }, []));
    if (replica.leads()) {
      // What the server has may be older than what this replica has seen.
      onDoubt();
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
    views: () => scheduler.views(),
    ledger: () => pacer.ledger,
    bucketOf: (source) => pacer.bucketOf(laneOf(apiOptions, source)),
  });
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
    stop: async () => {
      await stopper.stop();
      return { ledger: pacer.ledger, entries: scheduler.entries(), totals: await own.totals() };
    },
  };
}

/** Nothing will be polled and nothing fail: without a word the program would look as if it hung. */
function logStanding(log: Logger, { key }: Ledger): void {
  if (key.standing !== 'revoked' || key.mayProbe) return;
  const since = new Date(key.since).toISOString();
  log.warn({ since }, 'access is revoked: no request before another key, or a start or reload ten minutes later');
}

/** Where and as whom the API is asked. */
export function apiOptionsOf(config: Config, key: string): ApiOptions {
  return {
    baseUrl: config.api.baseUrl,
    v1BaseUrls: Object.fromEntries(config.chains.map(({ name, v1BaseUrl }) => [name, v1BaseUrl])),
    key,
    userAgent: `beaconchain-exporter/${VERSION}`,
  };
}
