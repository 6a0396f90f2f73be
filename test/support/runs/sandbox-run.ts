import { type ApiOptions, createApi, routeOf } from '../../../src/api/client.ts';
import type { Endpoint } from '../../../src/api/endpoints.ts';
import { RequestFailed } from '../../../src/api/errors.ts';
import type { Transport } from '../../../src/api/transport.ts';
import type { BudgetOptions } from '../../../src/budget/bucket.ts';
import { areLimitsKnown, emptyLedger, type Ledger, withKey } from '../../../src/budget/ledger.ts';
import { RateLimiter } from '../../../src/budget/rate-limiter.ts';
import { EventLog } from '../../../src/exporter/event-log.ts';
import { budgetViewOf } from '../../../src/exporter/setup.ts';
import { fingerprintOf } from '../../../src/exporter/state.ts';
import type { Chain } from '../../../src/facts/chain.ts';
import { usedOfMonth } from '../../../src/sandbox/account.ts';
import { answer } from '../../../src/sandbox/answer.ts';
import { Sandbox, type SandboxOptions } from '../../../src/sandbox/world.ts';
import type { Entry } from '../../../src/scheduler/entry.ts';
import { sourceId } from '../../../src/scheduler/entry.ts';
import type { SourceView } from '../../../src/scheduler/schedules.ts';
import type { SourceEvent } from '../../../src/sources/read.ts';
import type { Source } from '../../../src/sources/source.ts';
import type { Clock } from '../../../src/toolkit/lib/clock.ts';
import { jsonLogger } from '../../../src/toolkit/lib/log.ts';
import { writtenAnswer } from '../answers/written-answer.ts';
import { logLines } from '../log/log-lines.ts';
import { VirtualClock } from '../time/virtual-clock.ts';
import { ViewedScheduler } from './viewed-scheduler.ts';

export interface SandboxRunOptions {
  /** Start of the virtual time, Unix ms. */
  readonly start: number;
  /** The service, or options for a new one. */
  readonly sandbox?: Sandbox | SandboxOptions;
  readonly budgetOptions?: BudgetOptions;
  readonly sources: readonly Source[];
  /** Milliseconds from request to answer. The service counts the request half-way. */
  readonly latencyMs?: number;
  /** In place of `latencyMs`, for the next request: milliseconds until the service counts it, and until the answer. */
  readonly way?: () => readonly [there: number, back: number];
  readonly onEvent?: (source: Source, event: SourceEvent) => void;
  /** The saved state of an earlier process. */
  readonly ledger?: Ledger;
  readonly entries?: ReadonlyMap<string, Entry>;
  /** The scheduler sleeps until something may be due, not at most 15 s. Long runs with few polls are faster. */
  readonly sleepsLong?: boolean;
}

/** The longest sleep of the scheduler. */
const HEARTBEAT_MS = 15_000;
/** With `sleepsLong`, the longest sleep as a share of the shortest interval. */
const INTERVAL_SHARE = 1 / 10;

/** A request to the sandbox and its answer. */
export interface Exchange {
  readonly at: number;
  readonly path: string;
  readonly body: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** The program and the sandbox in one process on virtual time, without sockets and files. */
export class SandboxRun {
  readonly clock: VirtualClock;
  readonly sandbox: Sandbox;
  readonly rateLimiter: RateLimiter;
  readonly scheduler: ViewedScheduler;
  readonly exchanges: Exchange[] = [];
  /** The last saved entry of each source. */
  readonly entries: Map<string, Entry>;
  /** The plans that were logged: the interval of each source. */
  readonly plans: { at: number; intervals: Record<string, string> }[] = [];
  /** The logged waits for the quota: of each source what for, and until when. */
  readonly waits: Record<string, string>[] = [];
  /** Every request fails with a network error. */
  offline = false;
  readonly #abort = new AbortController();
  readonly #run: Promise<void>;

  constructor(options: SandboxRunOptions) {
    const { start, sources, latencyMs = 50, budgetOptions = { utilization: 0.9 } } = options;
    const { way = () => [latencyMs / 2, latencyMs / 2] } = options;
    const clock = new VirtualClock(start);
    const sandbox = options.sandbox instanceof Sandbox ? options.sandbox : new Sandbox(options.sandbox);
    const { key } = sandbox.account;
    const transport: Transport = async ({ endpoint, base, path, method, headers, body = '' }, signal) => {
      const [there, back] = way();
      await clock.sleep(there, signal);
      if (this.offline) throw new RequestFailed(endpoint, 'network', 'made up');
      const at = clock.now();
      const target = `${new URL(base).pathname.replace(/\/$/, '')}${path}`;
      const result = answer(sandbox, { method, path: target, headers, body }, at);
      this.exchanges.push({ at, path: target, body, status: result.status, headers: result.headers });
      await clock.sleep(back, signal);
      return writtenAnswer(result);
    };
    const apiOptions: ApiOptions = {
      baseUrl: 'http://sandbox',
      v1BaseUrls: { mainnet: 'http://sandbox', hoodi: 'http://sandbox/hoodi' },
      key,
      userAgent: 'test',
    };
    const ledger = withKey(options.ledger ?? emptyLedger(), fingerprintOf(key), start);
    const rateLimiter = new RateLimiter(budgetOptions, { clock, ledger });
    const viewOptions = {
      budgetOptions,
      routeOf: (endpoint: Endpoint, chain: Chain | undefined) =>
        routeOf(apiOptions, { endpoint, ...(chain && { chain }) }),
    };
    const nothing = (): void => undefined;
    const { log, lines } = logLines();
    const events = new EventLog(log);
    const api = createApi(() => apiOptions, {
      budget: rateLimiter,
      transport,
      clock,
      random: () => 0.5,
    });
    this.entries = new Map(options.entries);
    this.clock = clock;
    this.sandbox = sandbox;
    this.rateLimiter = rateLimiter;
    this.scheduler = new ViewedScheduler(sources, options.entries ?? new Map(), {
      api,
      clock: options.sleepsLong ? this.#sleepingLong() : clock,
      log: jsonLogger('error'),
      store: { save: async (id, entry) => void this.entries.set(id, entry) },
      budgetView: () => budgetViewOf(viewOptions, rateLimiter.settleLedger(), clock.now()),
      limitsKnown: () => areLimitsKnown(rateLimiter.settleLedger(), budgetOptions, clock.now()),
      onEvent: options.onEvent ?? nothing,
      onRun: nothing,
      onSchedules: (schedules) => {
        events.scheduled(schedules, clock.monotonic());
        for (const { intervals, waits } of lines.splice(0)) {
          if (intervals) this.plans.push({ at: clock.now(), intervals: intervals as Record<string, string> });
          if (waits) this.waits.push(waits as Record<string, string>);
        }
      },
      onChange: nothing,
    });
    this.#run = this.scheduler.run(this.#abort.signal);
  }

  view(id: string): SourceView {
    const view = this.scheduler.views().find(({ source }) => sourceId(source) === id);
    if (!view) throw new TypeError(`no source ${id}`);
    return view;
  }

  /** What all users of the account have used of the month, just before now. */
  get used(): number {
    return usedOfMonth(this.sandbox.account, this.clock.now() - 1);
  }

  #sleepingLong(): Clock {
    const { clock } = this;
    return {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      sleep: (ms, signal) => clock.sleep(ms === HEARTBEAT_MS ? Math.max(ms, this.#untilDue()) : ms, signal),
    };
  }

  #untilDue(): number {
    const views = this.scheduler.views();
    const reads = views.filter(({ running }) => !running).flatMap((view) => view.reads);
    const next = Math.min(...reads.map(({ nextAttemptAt }) => nextAttemptAt));
    const shortest = Math.min(...views.map(({ first }) => first.pace.intervalMs));
    return Math.min(next - this.clock.now(), INTERVAL_SHARE * shortest);
  }

  async stop(): Promise<void> {
    this.#abort.abort(new Error('stopping'));
    await this.#run;
  }
}
