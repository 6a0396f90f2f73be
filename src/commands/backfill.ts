import { z } from 'zod';
import type { Api } from '../api/client.ts';
import { costsText, isOverBudget } from '../backfill/costs.ts';
import { concurrencyAt, type FetchOptions, fetchAll } from '../backfill/fetch.ts';
import { makePlan } from '../backfill/make-plan.ts';
import { Meter } from '../backfill/meter.ts';
import { nextSteps } from '../backfill/next-steps.ts';
import type { Plan } from '../backfill/plan.ts';
import { summary } from '../backfill/summary.ts';
import { WorkFolder } from '../backfill/work-folder.ts';
import { writeAll } from '../backfill/write.ts';
import type { Config } from '../config/config.ts';
import type { Account, AccountLimits } from '../exporter/account.ts';
import { sourcesOf } from '../exporter/sources.ts';
import type { Chain } from '../lib/chain.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Proxies } from '../lib/proxies.ts';
import type { UnixMs } from '../lib/time.ts';
import type { History } from '../sources/history.ts';
import { sourceId } from '../state/entry.ts';
import { openLedger } from './backfill-account.ts';
import { BackfillRefused, explainFailure } from './backfill-errors.ts';
import type { BackfillOptions } from './backfill-flags.ts';
import { ProgressReport, type Terminal } from './backfill-progress.ts';
import { exists, findEarlierRun } from './backfill-resume.ts';

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

/**
 * Reads the past and writes it as OpenMetrics. Returns the next steps for the user. If it is interrupted, what was read
 * stays beside the output. @throws BackfillRefused, StateRefused; the signal's reason when it aborts.
 */
export async function backfill(context: BackfillContext): Promise<string> {
  const { clock, config, options, log, signal } = context;
  const histories = historiesOf(config, options, log, clock.now());
  const folder = new WorkFolder(options.output);
  const earlier = await findEarlierRun(folder, options);
  if (earlier === 'complete') return `${options.output} is complete, there is nothing to resume.\n`;
  await using opened = new AsyncDisposableStack();
  try {
    const account = await openLedger(context, opened);
    return await new Backfill({ ...context, account, histories, folder }).run(earlier);
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error;
    throw explainFailure(error, options, await exists(folder.path));
  }
}

function historiesOf(
  config: Config,
  { source, chains }: BackfillOptions,
  log: Logger,
  now: UnixMs,
): Map<string, History> {
  const wanted = sourcesOf(config, log, now).filter(
    ({ name, chain }) => name === source && (chain === undefined || chains.includes(chain)),
  );
  const entries = wanted.flatMap((one): [string, History][] => (one.history ? [[sourceId(one), one.history()]] : []));
  if (entries.length === 0) throw new BackfillRefused(`${source}.enabled is false in the configuration`);
  return new Map(entries);
}

interface BackfillParts extends BackfillContext {
  readonly account: Account;
  readonly histories: ReadonlyMap<string, History>;
  readonly folder: WorkFolder;
}

class Backfill {
  readonly #parts: BackfillParts;
  readonly #isDaily: boolean;

  constructor(parts: BackfillParts) {
    this.#parts = parts;
    this.#isDaily = parts.options.source === 'daily_returns';
  }

  /** @param earlier The plan of the run to resume. */
  async run(earlier: Plan | undefined): Promise<string> {
    const { options, terminal, folder } = this.#parts;
    const plan = earlier ?? (await this.#plan());
    const complete = earlier ? await folder.completeSlices(plan) : new Set<number>();
    const slicesLeft = plan.slices.length - complete.size;
    const meter = new Meter(plan, complete);
    if (slicesLeft > 0) this.#confirmCosts(meter.expected, slicesLeft);
    await folder.save(plan);
    const fetched = slicesLeft > 0 ? await this.#fetch(plan, meter) : plan;
    const { written } = await this.#write(fetched);
    const flaws = await folder.flaws(fetched);
    terminal.write(summary({ written, ...flaws, isDaily: this.#isDaily, fullResolution: options.fullResolution }));
    await folder.remove();
    const files = written.flatMap(({ parts }) => parts.map(({ file }) => file));
    const hasTargetLabels = options.labels['job'] !== undefined && options.labels['instance'] !== undefined;
    return files.length === 0 ? '' : nextSteps({ files, hasTargetLabels });
  }

  async #plan(): Promise<Plan> {
    const { account, clock, signal, histories, options } = this.#parts;
    const { range, fullResolution, request } = options;
    if (this.#isDaily && !this.#allowance().isKnown) await this.#learnLimits();
    return makePlan({ api: account.api, clock, signal, histories, range, fullResolution, request });
  }

  /** Every answer states the limits. If this request fails, later ones may still succeed. */
  async #learnLimits(): Promise<void> {
    const { options, account, signal } = this.#parts;
    const [chain = 'mainnet'] = options.chains;
    await askCheaply(account.api, chain, signal).catch(() => signal.throwIfAborted());
  }

  #allowance(): AccountLimits {
    return this.#parts.account.allowance(this.#isDaily ? 'daily_returns' : 'machine_metrics');
  }

  /** Shows the costs. @throws BackfillRefused if they exceed what is left and --yes is not given. */
  #confirmCosts(requests: number, sequences: number): void {
    const { options, terminal } = this.#parts;
    const what = `Backfill of ${this.#isDaily ? `daily returns, ${options.chains.join(' and ')}` : 'machine metrics'}`;
    const costs = { what, requests, sequences, ...this.#allowance() };
    terminal.write(costsText(costs));
    if (!isOverBudget(costs) || options.yes) return;
    const advice = this.#isDaily ? 'a smaller --window' : 'a later --start';
    throw new BackfillRefused(
      `That is more than the budget has left. --yes begins nevertheless; ${advice} takes less.`,
    );
  }

  async #fetch(plan: Plan, meter: Meter): Promise<Plan> {
    const { account, clock, terminal, signal, folder, histories, options } = this.#parts;
    const began = clock.monotonic();
    const report = new ProgressReport(terminal, clock, () => ({
      done: meter.done,
      expected: meter.expected,
      elapsedMs: clock.monotonic() - began,
      perSecond: this.#allowance().perSecond,
    }));
    const fetchOptions: FetchOptions = {
      api: account.api,
      clock,
      folder,
      histories,
      fullResolution: options.fullResolution,
      concurrency: () => concurrencyAt(this.#allowance().perSecond),
      onWait: (reason, until) => report.onWait(reason, until),
      onPage: (slice) => {
        meter.page(slice);
        report.onPage();
      },
      onSlice: (slice) => meter.complete(slice),
    };
    report.start();
    try {
      return await fetchAll(fetchOptions, plan, signal);
    } finally {
      await report.stop();
    }
  }

  #write(plan: Plan): Promise<Plan> {
    const { folder, histories, options, signal } = this.#parts;
    const { labels, step, maxSamples, output } = options;
    const series = { labels, chains: new Set<string>(options.chains), step, now: plan.now };
    return writeAll({ folder, output, histories, series, maxSamples }, plan, signal);
  }
}

/** Makes a request whose answer matters only for its headers. */
async function askCheaply(api: Api, chain: Chain, signal: AbortSignal): Promise<void> {
  const body = { sync_committee_period: { view: 'latest' }, chain };
  const path = '/api/v2/ethereum/sync-committee';
  await api.request({ endpoint: 'sync_committee', priority: 'sync_committee', path, body }, z.unknown(), signal);
}
