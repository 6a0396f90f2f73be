import { limitsOf } from '../budget/ledger.ts';
import type { UnixMs } from '../lib/time.ts';
import type { Sample } from '../metrics/family.ts';
import { LeaseLost } from '../replica/lease.ts';
import { Scheduler } from '../scheduler/scheduler.ts';
import { sourceId } from '../state/entry.ts';
import { type Client, openClient } from './client.ts';
import { Counters, endpointsOf } from './counters.ts';
import { SchemaDrift } from './drift.ts';
import { problemOf } from './health.ts';
import { KeyLog } from './key-log.ts';
import { BUDGET_WAIT, STATE_WRITE_FAILURES } from './own-families.ts';
import { ALL_PARTS, ATTEMPTS } from './parts.ts';
import { budgetViewOf, type ViewOptions } from './picture.ts';
import { logPlan, logWaits } from './plan-log.ts';
import type { Counted, EngineOptions, Role, RoleLinks } from './role.ts';
import { isChange, type Settings } from './settings.ts';
import { viewOptionsOf } from './sources.ts';
import {
  FIRST_START,
  FirstStart,
  LEDGER,
  loadDocument,
  restore,
  restoreEntries,
  type State,
  TOTALS,
  underKey,
} from './state.ts';

/** Polls, counts and writes. @throws StateRefused */
export async function openPoller(options: EngineOptions, links: RoleLinks): Promise<Role> {
  const { config, key, clock, log, documents, before, operatorAt = clock.now() } = options;
  const viewOptions = viewOptionsOf(config, log, operatorAt);
  const firstStart = await loadDocument(documents, FIRST_START, FirstStart);
  const known = await restore(documents, viewOptions.sources, key, operatorAt, before);
  return new Poller(options, links, viewOptions, known, firstStart === undefined);
}

class Poller implements Role {
  readonly isLeader = true;
  viewOptions: ViewOptions;
  readonly #options: EngineOptions;
  readonly #links: RoleLinks;
  readonly #client: Client;
  readonly #scheduler: Scheduler;
  readonly #counters: Counters;
  readonly #drift: SchemaDrift;
  readonly #keyLog: KeyLog;
  readonly #isFirstStart: boolean;
  #settings: Settings;
  #ledgerFailures = 0;
  #leave: () => void = () => undefined;

  constructor(options: EngineOptions, links: RoleLinks, viewOptions: ViewOptions, known: State, isFirstStart: boolean) {
    const { clock, log, documents, proxies, outside, replica } = options;
    this.#options = options;
    this.#links = links;
    this.#settings = options;
    this.viewOptions = viewOptions;
    this.#isFirstStart = isFirstStart;
    this.#keyLog = new KeyLog(log);
    this.#counters = new Counters({
      config: options.config,
      earlier: known.totals,
      others: () => ({
        [BUDGET_WAIT]: rateLimiter.waitedMs / 1000,
        // Each replica counts its own failed writes.
        ...(replica ? {} : { [STATE_WRITE_FAILURES]: this.#writeFailures() }),
      }),
      save: (totals) => documents.save(TOTALS, totals),
      clock,
    });
    this.#drift = new SchemaDrift(clock, log);
    const client = openClient({
      settings: options,
      proxies,
      outside,
      clock,
      ledger: known.ledger,
      hasPredecessor: replica !== undefined || !isFirstStart,
      save: (ledger) => {
        this.#keyLog.see(ledger.key);
        return documents.save(LEDGER, ledger);
      },
      onClosed: ({ key }) => this.#keyLog.tell(key),
      onSaveError: (error) => {
        this.#ledgerFailures += 1;
        // A replica logs by itself that Redis is away.
        if (!replica) log.error({ err: String(error) }, 'ledger not written');
      },
      observer: this.#counters.requests,
      onAnswer: (endpoint, json) => this.#drift.note(endpoint, json),
      lease: replica,
    });
    this.#client = client;
    const { rateLimiter } = client;
    this.#keyLog.begin(known.ledger.key);
    this.#scheduler = new Scheduler(viewOptions.sources, known.entries, {
      api: client.api,
      clock,
      log,
      store: { save: (id, entry) => documents.save(id, entry) },
      budgetView: () => budgetViewOf(rateLimiter.ledger, this.viewOptions, clock.now()),
      limits: () => limitsOf(rateLimiter.ledger),
      limitsKnown: () => rateLimiter.ledger.key.standing === 'valid',
      onPlan: (paces) => logPlan(log, paces),
      onWait: (waits) => logWaits(log, waits),
      onChange: ({ name }) => links.touch(name, ATTEMPTS),
    });
  }

  state(): State {
    return {
      ledger: this.#client.rateLimiter.ledger,
      entries: this.#scheduler.entries(),
      totals: this.#counters.shown,
      polled: this.#scheduler.known(),
    };
  }

  async counted(): Promise<Counted> {
    const writeFailures = await this.#counters.write();
    const { replica } = this.#options;
    return {
      totals: this.#counters.shown,
      stateWriteFailures: replica?.writeFailures ?? writeFailures,
      drift: this.drift(),
    };
  }

  drift(): readonly Sample[] {
    return this.#drift.samples(endpointsOf(this.#settings.config));
  }

  unhealthy(): string | undefined {
    const { replica, clock } = this.#options;
    const heartbeatAt = Math.min(this.#scheduler.heartbeatAt, replica?.heartbeatAt ?? Number.POSITIVE_INFINITY);
    return problemOf(clock.monotonic() - heartbeatAt, this.#scheduler.overdue);
  }

  async begin(): Promise<void> {
    const { replica } = this.#options;
    const { abort } = this.#links;
    if (!replica) return this.#noteFirstStart();
    const rewrite = (): void => {
      this.#scheduler.saveAgain(abort.signal);
      this.#client.writeAgain();
      this.#counters.writeAgain();
    };
    const onLapse = (): void => abort.abort(new LeaseLost());
    this.#leave = replica.subscribe({ wanted: [], apply: () => undefined, rewrite, onLapse }, []);
    // The state in Redis may be older than what this replica has seen.
    if (!replica.leads()) return onLapse();
    rewrite();
    await this.#noteFirstStart();
  }

  /** Before the first poll. Without the note, a later backfill does not know where to end. */
  async #noteFirstStart(): Promise<void> {
    const { documents, clock, log } = this.#options;
    if (!this.#isFirstStart) return;
    await documents
      .save(FIRST_START, { at: clock.now() })
      .catch((error: unknown) => log.error({ document: FIRST_START, err: String(error) }, 'state not written'));
  }

  run(): Promise<void> {
    return this.#scheduler.run(this.#links.abort.signal);
  }

  async adopt(next: Settings, reloadedAt: UnixMs): Promise<void> {
    const { log, documents } = this.#options;
    const after = viewOptionsOf(next.config, log, reloadedAt);
    const ids = new Set(after.sources.map(sourceId));
    const restored = await restoreEntries(documents, after.sources, this.#scheduler.entries());
    await this.#scheduler.interrupt((source) => !ids.has(sourceId(source)) || this.#client.isOtherFor(source, next));
    // No await from here on, so that the change is atomic for other code.
    const before = { ...this.state(), entries: new Map([...restored, ...this.#scheduler.entries()]) };
    const { ledger, entries } = underKey(before, next.key, reloadedAt);
    this.#client.adopt(next, ledger);
    this.#counters.requests.expect(endpointsOf(next.config));
    this.viewOptions = after;
    this.#scheduler.adopt(after.sources, entries);
    this.#keyLog.begin(ledger.key);
    if (isChange(this.#settings, next)) this.#links.touch(...ALL_PARTS);
    this.#settings = next;
  }

  async close(): Promise<State> {
    this.#leave();
    await this.#client.close();
    // Replicas share the counters, so unwritten counts are not handed over.
    const sums = await (this.#options.replica ? this.#counters.finish() : this.#counters.sums());
    return { ledger: this.#client.rateLimiter.ledger, entries: this.#scheduler.entries(), totals: sums };
  }

  #writeFailures(): number {
    return this.#scheduler.saveFailures + this.#ledgerFailures + this.#counters.writeFailures;
  }
}
