import { isDeepStrictEqual } from 'node:util';
import { ServiceClock } from '../api/service-clock.ts';
import type { Proxies } from '../api/transport.ts';
import { areLimitsKnown, emptyLedger, Ledger } from '../budget/ledger.ts';
import { METRIC_UNITS } from '../facts/ether.ts';
import { type Entry, entrySchema, sourceId } from '../scheduler/entry.ts';
import { DEAD_AFTER_MS, Scheduler } from '../scheduler/scheduler.ts';
import { isReady, sourceViews } from '../scheduler/schedules.ts';
import { sourcesOf } from '../sources/registry.ts';
import { pagesOf } from '../status-page/documentation.ts';
import { pagePieces } from '../status-page/page.ts';
import { statusOf } from '../status-page/status.ts';
import type { Format } from '../toolkit/exposition/encode.ts';
import { EXPOSITION_OPTIONS, Exposition, type ExpositionOptions } from '../toolkit/exposition/exposition.ts';
import { type Clock, within } from '../toolkit/lib/clock.ts';
import { messageOf } from '../toolkit/lib/error-code.ts';
import type { Logger } from '../toolkit/lib/log.ts';
import type { MonotonicMs, UnixMs } from '../toolkit/lib/time.ts';
import { parseValue } from '../toolkit/state/envelope.ts';
import { LeaseLost, type Replica } from '../toolkit/state/replica.ts';
import type { Access } from '../toolkit/web/access.ts';
import { renderedPage } from '../toolkit/web/send.ts';
import type { Pages } from '../toolkit/web/server.ts';
import { type Client, type Outside, openClient } from './client.ts';
import { EventLog } from './event-log.ts';
import { labelsOf, OWN, type Snapshot, sectionsOf } from './metrics.ts';
import { OwnMetrics } from './own-metrics.ts';
import { assertNoRestartNeeded, isOtherService, type Settings } from './settings.ts';
import { budgetViewOf, endpointsOf, type Setup, setupOf, showingInputs } from './setup.ts';
import { type Documents, FIRST_START, LEDGER, restore, restoreEntries, type State, underKey } from './state.ts';

/** Much longer than reading a few small files takes. */
const READ_WITHIN_MS = 10_000;

const NOTHING_KNOWN = { ledger: emptyLedger(), entries: new Map(), isFirstStart: false };

export interface ExporterOptions {
  readonly settings: Settings;
  /** Reads the settings as they are now. @throws Error that says what is wrong with them */
  readonly readAgain: () => Promise<Settings>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Keeps the state over restarts; closed when the exporter has stopped. */
  readonly documents: Documents;
  /** The same as `documents`, if several processes share them. */
  readonly replica?: Replica | undefined;
  /** Default: none. */
  readonly proxies?: Proxies | undefined;
  /** Whether to expose process_* and nodejs_*. */
  readonly processMetrics: boolean;
  /** Counts the lines of the log that were lost. Default: none are. */
  readonly output?: { readonly dropped: number } | undefined;
  /** Whether the service is simulated, which the status page says. */
  readonly isSimulated?: boolean;
  /** Gets the web config that a reload has read. */
  readonly access?: Pick<Access, 'adopt'> | undefined;
  /** Replaced in simulations. */
  readonly outside?: Outside | undefined;
  readonly exposition?: ExpositionOptions | undefined;
}

/**
 * All of a process but its server: it polls what is due, keeps the state, and renders /metrics and the page. With
 * replicas, one polls and the others show what it wrote. The parts are the same in both roles.
 */
export class Exporter implements Pages {
  readonly #options: ExporterOptions;
  readonly #clock: ServiceClock;
  readonly #log: Logger;
  readonly #replica: Replica | undefined;
  #settings: Settings;
  #setup: Setup;
  readonly #own: OwnMetrics;
  readonly #events: EventLog;
  readonly #client: Client;
  readonly #scheduler: Scheduler;
  readonly #exposition: Exposition<Snapshot>;
  readonly pages: ReturnType<typeof pagesOf>;
  readonly #startedAt: MonotonicMs;
  /** Why the last reload failed. Undefined if it succeeded. */
  #reloadError: string | undefined;
  /** When the configuration was last read and valid. */
  #reloadedAt: UnixMs;
  /** When a write of the state last failed. Undefined if none has. */
  #unwrittenAt: UnixMs | undefined;
  #isReady = false;
  /** The loop of the scheduler, while this process polls. */
  #polling: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;
  #rendering: Promise<void> = Promise.resolve();
  /** Reloads, changes of the role and the stop happen one after the other. */
  #queue: Promise<unknown> = Promise.resolve();
  readonly #stopping = new AbortController();

  private constructor(options: ExporterOptions, known: State & { readonly isFirstStart: boolean }) {
    const { log, replica, settings, proxies, outside, exposition = EXPOSITION_OPTIONS } = options;
    const clock = new ServiceClock(options.clock);
    this.#options = options;
    this.#clock = clock;
    this.#log = log;
    this.#replica = replica;
    this.#settings = settings;
    this.#setup = setupOf(settings.config);
    this.#startedAt = clock.monotonic();
    this.#reloadedAt = clock.now();
    this.#own = new OwnMetrics(options.processMetrics);
    this.#events = new EventLog(log);
    this.#client = openClient({
      settings: () => this.#settings,
      proxies,
      clock,
      outside,
      observer: this.#own,
      ledger: known.ledger,
      save: (ledger) => this.#saveLedger(ledger),
      onSaveError: (error) => log.error({ err: String(error) }, 'ledger not written'),
      onClosed: ({ key }) => this.#events.keyRefused(key),
      onOdd: (endpoint, odd) => this.#events.unreadable(endpoint, odd),
      onWait: (seconds) => this.#own.waited(seconds),
      leads: replica && (() => replica.checkLead()),
    });
    const { api, limiter } = this.#client;
    this.#scheduler = new Scheduler(this.#setup.sources, known.entries, {
      api,
      clock,
      heldTime: limiter.heldTime,
      log,
      store: { save: (id, entry) => this.#save(id, entry) },
      budgetView: () => budgetViewOf(this.#setup, limiter.settleLedger(), clock.now()),
      aliveAt: () => limiter.settleLedger().aliveAt,
      limitsKnown: () => areLimitsKnown(limiter.settleLedger(), this.#setup.budgetOptions, clock.now()),
      onSchedules: (schedules) => this.#events.scheduled(schedules, clock.monotonic()),
      onEvent: (source, event) => this.#events.found(source, event),
      onRun: (source, read, ended) => {
        this.#events.ran(source, read, ended);
        this.#own.ran(labelsOf(source), ended.failure !== undefined);
      },
      onChange: ({ name, chain }) => this.#exposition.touch(name, OWN, ...(chain ? showingInputs(this.#setup) : [])),
    });
    this.#exposition = new Exposition(sectionsOf(this.#own, exposition.maxNapMs), {
      takeSnapshot: () => this.#snapshot(),
      clock,
      onError: (error) => log.error({ err: String(error) }, 'metrics not rendered'),
      units: METRIC_UNITS,
      ...exposition,
    });
    const page = renderedPage(() => {
      const snapshot = this.#snapshot();
      return pagePieces(statusOf(snapshot, snapshot.now));
    }, clock);
    this.pages = pagesOf(page);
    this.#expectSeries();
    this.#events.begin(known.ledger.key);
  }

  /**
   * Resolves when /metrics is complete, with the stored values.
   * @throws StateRefused
   */
  static async start(options: ExporterOptions): Promise<Exporter> {
    const { settings, documents, replica, clock } = options;
    await using starting = new AsyncDisposableStack();
    starting.defer(() => documents.close());
    // A replica that does not poll shows what it reads when it begins to follow.
    const known = replica
      ? NOTHING_KNOWN
      : await restore(documents, sourcesOf(settings.config), settings.key, clock.now());
    const exporter = new Exporter(options, known);
    await exporter.#begin(known.isFirstStart);
    starting.move();
    return exporter;
  }

  async #begin(isFirstStart: boolean): Promise<void> {
    await this.#replica?.start({
      onDocument: (name, value) => this.#follow(name, value),
      onLead: () => void this.#inTurn(() => this.#lead()),
      onLapse: () => this.#polling?.stop.abort(new LeaseLost()),
    });
    if (!this.#replica) await this.#poll(isFirstStart);
    await this.#exposition.refresh();
    this.#rendering = this.#exposition.run(this.#stopping.signal);
  }

  metrics(format: Format, gzipped: boolean): readonly Buffer[] {
    return this.#exposition.chunks(format, gzipped);
  }

  onError(error: unknown): void {
    this.#log.error({ err: String(error) }, 'page not rendered');
  }

  /** Why a restart would help. Undefined if healthy. */
  unhealthy(): string | undefined {
    const heartbeatAt = this.#replica?.heartbeatAt ?? Number.POSITIVE_INFINITY;
    if (this.#clock.monotonic() - heartbeatAt > DEAD_AFTER_MS) return 'the heartbeat of the replica has stopped';
    return this.#polling && this.#scheduler.unhealthy();
  }

  /** Why the exporter is not ready yet. Undefined from the first time it is ready. */
  unready(): string | undefined {
    if (!this.#isReady) {
      const { views, now } = this.#snapshot();
      this.#isReady = isReady(views, now);
    }
    return this.#isReady ? undefined : 'a source has not made its first attempt';
  }

  /** Reads the settings again. Returns why nothing has changed, or undefined if the new settings apply. */
  reload(): Promise<string | undefined> {
    return this.#inTurn(async () => (this.#stopping.signal.aborted ? 'stopping' : this.#reload()));
  }

  /** Aborts the polls in progress and writes the state. To be called when nothing can be scraped any more. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('stopping'));
    this.#polling?.stop.abort(this.#stopping.signal.reason);
    await this.#inTurn(async () => {
      await Promise.all([this.#polling?.ended, this.#rendering]);
      await this.#client.close();
      await this.#options.documents.close();
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(work);
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  /** Polls until it is stopped or loses the lease. */
  async #poll(isFirstStart: boolean): Promise<void> {
    // A backfill ends at this time, or at the time of its run if none is stored.
    const first = isFirstStart ? this.#save(FIRST_START, { at: this.#clock.now() }) : undefined;
    await first?.catch((error) => this.#log.error({ document: FIRST_START, err: String(error) }, 'state not written'));
    // Meanwhile the lease may have been lost, or the process may be stopping.
    if (this.#stopping.signal.aborted || this.#replica?.leads() === false) return;
    const stop = new AbortController();
    const begun = this.#client.begin().then(() => this.#scheduler.run(stop.signal));
    const ended = begun.finally(() => {
      this.#polling = undefined;
      this.#exposition.touch(OWN);
    });
    this.#polling = { stop, ended };
  }

  /** Takes over from the replica that polled before. */
  async #lead(): Promise<void> {
    const { documents } = this.#options;
    // If the lease was lost and taken again before the first turn came, that turn already polls.
    if (this.#polling && !this.#polling.stop.signal.aborted) return;
    await this.#polling?.ended;
    if (this.#stopping.signal.aborted || !this.#replica?.leads()) return;
    const { key } = this.#settings;
    try {
      // Only the operator may ask again after a revocation, by a start or a reload. A takeover is neither.
      const { ledger, entries, isFirstStart } = await restore(documents, this.#setup.sources, key, this.#reloadedAt);
      this.#client.limiter.adopt(this.#setup.budgetOptions, ledger);
      this.#client.limiter.keepQuiet();
      for (const source of this.#setup.sources) this.#scheduler.show(source, entries.get(sourceId(source)));
      this.#scheduler.adopt(this.#setup.sources, entries);
      this.#events.begin(ledger.key);
      await this.#poll(isFirstStart);
      this.#exposition.touch();
    } catch (error) {
      this.#log.error({ err: String(error) }, 'cannot lead: leaving the lease to another replica');
      this.#replica.resign();
    }
  }

  /** Shows what the replica that polls has written. */
  #follow(name: string, value: unknown): void {
    const source = this.#setup.sources.find((one) => sourceId(one) === name);
    if (name !== LEDGER && !source) return;
    const read = parseValue(value, source ? entrySchema(source) : Ledger);
    if (!read.success) this.#log.warn({ document: name }, 'state not readable, still serving the previous state');
    else if (source) this.#scheduler.show(source, read.data as Entry);
    else this.#client.limiter.adopt(this.#setup.budgetOptions, read.data as Ledger);
    this.#exposition.touch(OWN);
  }

  /** A disk that does not answer must not block the next reload, a takeover or the stop. */
  #readAgain(): Promise<Settings> {
    const late = (): never => {
      throw new Error(`the files could not be read within ${READ_WITHIN_MS / 1000} s`);
    };
    return within(this.#clock, READ_WITHIN_MS, this.#options.readAgain(), late, this.#stopping.signal);
  }

  async #reload(): Promise<string | undefined> {
    try {
      const next = await this.#readAgain();
      assertNoRestartNeeded(this.#settings, next);
      const changed = !isDeepStrictEqual(this.#settings, next);
      await this.#adopt(next);
      // Whoever requested the reload may scrape next.
      this.#exposition.touch(...(changed ? [] : [OWN]));
      await this.#exposition.refresh();
      this.#log.level = next.config.log.level;
      this.#log.info({ changed }, 'configuration reloaded');
      return undefined;
    } catch (error) {
      if (this.#stopping.signal.aborted) return 'stopping';
      const why = messageOf(error);
      this.#reloadError = why;
      this.#exposition.touch(OWN);
      await this.#exposition.refresh();
      this.#log.error({ err: why }, 'configuration not reloaded');
      return why;
    }
  }

  /**
   * Continues with other settings. Polls in progress end with the old ones, except those of sources that are removed or
   * now use another host or key. Unchanged settings are adopted too, because a reload permits one request after a revocation.
   */
  async #adopt(next: Settings): Promise<void> {
    const setup = setupOf(next.config);
    const ids = new Set(setup.sources.map(sourceId));
    const restored = await restoreEntries(this.#options.documents, setup.sources, this.#scheduler.entries());
    await this.#scheduler.interrupt(
      (source) => !ids.has(sourceId(source)) || isOtherService(this.#settings, next, source.chain),
    );
    // No await from here on, so that the change is atomic for other code.
    const now = this.#clock.now();
    const before = {
      ledger: this.#client.limiter.settleLedger(),
      entries: new Map([...restored, ...this.#scheduler.entries()]),
    };
    const { ledger, entries } = underKey(before, next.key, now);
    this.#settings = next;
    this.#reloadError = undefined;
    this.#reloadedAt = now;
    this.#setup = setup;
    this.#client.limiter.adopt(setup.budgetOptions, ledger);
    this.#scheduler.adopt(setup.sources, entries);
    if (next.webConfig) this.#options.access?.adopt(next.webConfig);
    this.#expectSeries();
    this.#events.begin(ledger.key);
  }

  #expectSeries(): void {
    const { sources } = this.#setup;
    this.#own.expect(endpointsOf(sources), sources.map(labelsOf));
  }

  async #saveLedger(ledger: Ledger): Promise<void> {
    if (this.#replica?.leads() === false) return;
    this.#events.keySeen(ledger.key);
    await this.#save(LEDGER, { ...ledger, aliveAt: this.#clock.now() } satisfies Ledger);
  }

  async #save(name: string, value: unknown): Promise<void> {
    try {
      await this.#options.documents.save(name, value);
    } catch (error) {
      // Another replica writes now: nothing is lost.
      if (!(error instanceof LeaseLost)) {
        this.#unwrittenAt = this.#clock.now();
        this.#own.stateWriteFailed();
      }
      throw error;
    }
  }

  #snapshot(): Snapshot {
    const time = this.#client.limiter.heldTime.time();
    const { now } = time;
    const ledger = this.#client.limiter.settleLedger();
    return {
      now,
      views: sourceViews(this.#scheduler.sources(), budgetViewOf(this.#setup, ledger, now), time),
      ledger,
      budgetOptions: this.#setup.budgetOptions,
      startedAt: now - (this.#clock.monotonic() - this.#startedAt),
      reloadError: this.#reloadError,
      reloadedAt: this.#reloadedAt,
      unwrittenAt: this.#unwrittenAt,
      isLeader: this.#replica === undefined || this.#polling !== undefined,
      linesDropped: this.#options.output?.dropped ?? 0,
      clockOffsetMs: this.#clock.offsetMs(),
      isSimulated: this.#options.isSimulated,
      telemetryPath: this.#settings.config.web.telemetryPath,
      externalUrl: this.#settings.config.web.externalUrl,
    };
  }
}
