import type { Proxies } from '../api/transport.ts';
import { costsText, isOverBudget } from '../backfill/costs.ts';
import { fetchAll } from '../backfill/fetch.ts';
import { Meter } from '../backfill/meter.ts';
import { nextSteps } from '../backfill/next-steps.ts';
import { readPages } from '../backfill/page-log.ts';
import { patiently } from '../backfill/patience.ts';
import { type Plan, planned, type Slice, spansOf } from '../backfill/plan.ts';
import { summary } from '../backfill/summary.ts';
import { windowsOf } from '../backfill/windows.ts';
import { WorkFolder } from '../backfill/work-folder.ts';
import { writeWindow } from '../backfill/write.ts';
import type { Config } from '../config/config.ts';
import { type Account, openAccount } from '../exporter/account.ts';
import { sourcesOf } from '../exporter/sources.ts';
import { openState, StateRefused } from '../exporter/state.ts';
import type { Clock } from '../lib/clock.ts';
import { SECONDS_PER_DAY } from '../lib/duration.ts';
import type { Logger } from '../lib/log.ts';
import { Stopper } from '../lib/stop.ts';
import type { History, PastRange } from '../sources/history.ts';
import { sourceId } from '../state/entry.ts';
import { exists, lookAround } from './backfill-begun.ts';
import type { BackfillOptions } from './backfill-flags.ts';
import { BackfillRefused, explained } from './backfill-refusal.ts';
import { Report, type Terminal } from './backfill-report.ts';
import { askCheaply } from './check-probe.ts';

export interface BackfillContext {
  readonly config: Config;
  readonly key: string;
  readonly proxies?: Proxies | undefined;
  readonly options: BackfillOptions;
  readonly log: Logger;
  readonly clock: Clock;
  /** For costs and progress. */
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

/** From a day on the service leaves so much out (api-facts 2) that graphs, which look back five minutes, get holes. */
const USUAL_SLICE_SECONDS = SECONDS_PER_DAY - 3_600;
/** The longest that came in full by what is known of the service (api-facts 2); where it does not, it is cut. */
const FULL_SLICE_SECONDS = SECONDS_PER_DAY / 2;
/** Sequences per request a second that hide the latency of an answer, about half a second. */
const SEQUENCES_PER_RATE = 0.6;
const MAX_SEQUENCES = 8;

/**
 * Reads the past and writes it as OpenMetrics; returns what the user does next. Whatever interrupts it, what was read is
 * kept beside the output.
 * @throws BackfillRefused, StateRefused; the signal's reason when it aborts.
 */
export async function backfill(context: BackfillContext): Promise<string> {
  const { config, options, log } = context;
  const histories = historiesOf(config, options, log);
  const folder = new WorkFolder(options.output);
  const begun = await lookAround(folder, options);
  if (begun === 'complete') return `${options.output} is complete, there is nothing to resume.\n`;
  const stopper = new Stopper();
  try {
    return await new Backfill(context, histories, folder).run(await openLedger(context, stopper), begun);
  } catch (error) {
    if (context.signal.aborted || !(error instanceof Error)) throw error;
    throw explained(error, options, await exists(folder.path));
  } finally {
    await stopper.stop();
  }
}

function historiesOf(config: Config, { source, chains }: BackfillOptions, log: Logger): Map<string, History> {
  const wanted = sourcesOf(config, log).filter(
    ({ name, chain }) => name === source && (chain === undefined || chains.includes(chain)),
  );
  const entries = wanted.flatMap((one): [string, History][] => (one.history ? [[sourceId(one), one.history()]] : []));
  if (entries.length === 0) throw new BackfillRefused(`${source}.enabled is false in the configuration`);
  return new Map(entries);
}

/** The ledger has one writer: two that each spend what is left would spend it twice. */
async function openLedger(context: BackfillContext, stopper: Stopper): Promise<Account> {
  const { config, key, proxies, log, clock, signal } = context;
  if (config.state.redis) {
    throw new BackfillRefused(
      'state.redis: the ledger there belongs to the replica that polls. Give the backfill a configuration with a ' +
        'state.dir of its own, and both about half of budget.utilization.',
    );
  }
  const documents = await openState(config.state.dir, clock, log, signal).catch((error: unknown) => {
    if (!(error instanceof StateRefused)) throw error;
    throw new BackfillRefused(
      `${error.message}.\nA backfill spends from the same ledger of limits, which one process keeps at a time.`,
    );
  });
  stopper.add(() => documents.close());
  const account = await openAccount({
    config,
    key,
    proxies,
    documents,
    clock,
    onError: (error) => log.error({ err: String(error) }, 'ledger not written'),
  });
  stopper.add(() => account.close());
  return account;
}

class Backfill {
  readonly #context: BackfillContext;
  readonly #histories: ReadonlyMap<string, History>;
  readonly #folder: WorkFolder;
  readonly #isDaily: boolean;

  constructor(context: BackfillContext, histories: ReadonlyMap<string, History>, folder: WorkFolder) {
    this.#context = context;
    this.#histories = histories;
    this.#folder = folder;
    this.#isDaily = context.options.source === 'daily_returns';
  }

  async run(account: Account, begun: Plan | undefined): Promise<string> {
    const { options, terminal } = this.#context;
    const plan = begun ?? (await this.#plan(account));
    const done = begun ? await this.#folder.done(plan) : new Set<number>();
    const meter = new Meter(plan, done);
    const { length } = plan.slices;
    if (done.size < length) this.#agree(account, meter.expected, length - done.size);
    await this.#folder.save(plan);
    const read = done.size < length ? await this.#fetch(account, plan, meter) : plan;
    const { written } = await this.#write(read);
    terminal.write(
      summary({
        written,
        ...(await this.#flaws(read)),
        isDaily: this.#isDaily,
        fullResolution: options.fullResolution,
      }),
    );
    await this.#folder.remove();
    const files = written.flatMap(({ parts }) => parts.map(({ file }) => file));
    const joins = options.labels['job'] !== undefined && options.labels['instance'] !== undefined;
    return files.length === 0 ? '' : nextSteps({ files, joins });
  }

  /** Which spans are to be read, and how many requests that takes. */
  async #plan(account: Account): Promise<Plan> {
    const { clock, signal, options } = this.#context;
    const now = clock.now();
    if (this.#isDaily && !account.allowance('daily_returns').isKnown) await this.#learn(account);
    const slices: Slice[] = [];
    for (const [source, history] of this.#histories) {
      const ranges = this.#rangesOf(options.range);
      const ask = () => history.estimate(account.api, ranges, now, signal);
      const expected = await patiently(ask, { clock, signal, onWait: () => undefined });
      slices.push(...planned(source, ranges, expected, slices.length));
    }
    const { request } = options;
    return { version: 1, request, now: now / 1000, slices, nextId: slices.length, slow: [], written: [] };
  }

  #rangesOf(range: PastRange): PastRange[] {
    if (this.#isDaily || !('start' in range)) return [range];
    return spansOf(range, this.#context.options.fullResolution ? FULL_SLICE_SECONDS : USUAL_SLICE_SECONDS);
  }

  /** One cheap request tells the limits; a service that does not answer it may still answer others. */
  async #learn(account: Account): Promise<void> {
    const { options, signal } = this.#context;
    const [chain = 'mainnet'] = options.chains;
    await askCheaply(account.api, chain, signal).catch(() => signal.throwIfAborted());
  }

  /** Shows what it will take. @throws BackfillRefused where that is more than there is, unless it was agreed to. */
  #agree(account: Account, requests: number, sequences: number): void {
    const { options, terminal } = this.#context;
    const endpoint = this.#isDaily ? 'daily_returns' : 'machine_metrics';
    const what = `Backfill of ${this.#isDaily ? `daily returns, ${options.chains.join(' and ')}` : 'machine metrics'}`;
    const costs = { what, requests, sequences, ...account.allowance(endpoint) };
    terminal.write(costsText(costs));
    if (!isOverBudget(costs) || options.yes) return;
    const advice = this.#isDaily ? 'a smaller --window' : 'a later --start';
    throw new BackfillRefused(
      `That is more than the budget has left. --yes begins nevertheless; ${advice} takes less.`,
    );
  }

  async #fetch(account: Account, plan: Plan, meter: Meter): Promise<Plan> {
    const { clock, terminal, signal, options } = this.#context;
    const allowance = () => account.allowance(this.#isDaily ? 'daily_returns' : 'machine_metrics');
    const began = clock.monotonic();
    const report = new Report(terminal, clock, () => ({
      done: meter.done,
      expected: meter.expected,
      elapsedMs: clock.monotonic() - began,
      perSecond: allowance().perSecond,
    }));
    report.start();
    try {
      const fetching = {
        api: account.api,
        clock,
        folder: this.#folder,
        histories: this.#histories,
        fullResolution: options.fullResolution,
        sequences: () => Math.min(MAX_SEQUENCES, Math.ceil(allowance().perSecond * SEQUENCES_PER_RATE)),
        onWait: (reason: string, until: number) => report.wait(reason, until),
        onPage: (slice: Slice) => {
          meter.page(slice);
          report.page();
        },
        onSlice: (slice: Slice) => meter.complete(slice),
      };
      return await fetchAll(fetching, plan, signal);
    } finally {
      await report.stop();
    }
  }

  async #write(read: Plan): Promise<Plan> {
    const { options, signal } = this.#context;
    const { labels, step, maxSamples, output } = options;
    const telling = { labels, chains: new Set<string>(options.chains), step, now: read.now };
    const writing = { folder: this.#folder, output, histories: this.#histories, telling, maxSamples };
    let plan = read;
    for (const window of windowsOf(plan.slices, this.#histories)) {
      signal.throwIfAborted();
      if (plan.written.some(({ from }) => from === window.from)) continue;
      const written = await writeWindow(writing, plan, window, signal);
      plan = { ...plan, written: [...plan.written, written] };
      await this.#folder.save(plan);
    }
    return plan;
  }

  /** What is wrong with what was read. */
  async #flaws({ slices }: Plan): Promise<{ bad: number; endings: string[] }> {
    let bad = 0;
    const endings = new Set<string>();
    for (const slice of slices) {
      for await (const page of readPages(this.#folder.pagesOf(slice))) {
        bad += page.bad;
        if (page.ending !== undefined) endings.add(page.ending);
      }
    }
    return { bad, endings: [...endings] };
  }
}
