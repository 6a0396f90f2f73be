import * as z from 'zod';
import type { Api } from '../api/client.ts';
import { costsText, isOverBudget } from '../backfill/costs.ts';
import { isScraped } from '../backfill/covered.ts';
import { concurrencyAt, fetchAll } from '../backfill/fetch.ts';
import { makePlan } from '../backfill/make-plan.ts';
import { Meter } from '../backfill/meter.ts';
import { nextSteps } from '../backfill/next-steps.ts';
import type { Plan } from '../backfill/plan.ts';
import type { SeriesOptions } from '../backfill/series.ts';
import { summary } from '../backfill/summary.ts';
import { WorkFolder } from '../backfill/work-folder.ts';
import { writeAll } from '../backfill/write.ts';
import type { Account, AccountLimits } from '../exporter/account.ts';
import { sourcesOf } from '../exporter/sources.ts';
import type { Chain } from '../lib/chain.ts';
import type { History } from '../sources/history.ts';
import type { Source } from '../sources/source.ts';
import { sourceId } from '../state/entry.ts';
import { type LedgerContext, openLedger } from './backfill-account.ts';
import { BackfillRefused, explainFailure } from './backfill-errors.ts';
import { type BackfillOptions, backfillOptions, outputOf } from './backfill-flags.ts';
import { ProgressReport, type Terminal, waitLines } from './backfill-progress.ts';
import { decidingFlags, exists, findEarlierRun, resumedOptions } from './backfill-resume.ts';
import { leaveOut, readScrapes } from './backfill-scraped.ts';
import type { Flags } from './flag-table.ts';

export interface BackfillContext extends LedgerContext {
  readonly flags: Flags;
  /** Shows costs and progress. */
  readonly terminal: Terminal;
}

/** The context that all steps of a run share. */
interface Run extends BackfillContext {
  readonly options: BackfillOptions;
  readonly isDaily: boolean;
  readonly output: string;
  readonly sources: readonly Source[];
  /** By the id of the source. */
  readonly histories: ReadonlyMap<string, History>;
  readonly folder: WorkFolder;
  readonly account: Account;
}

/**
 * Reads the past and writes it as OpenMetrics. Returns the next steps for the user. If it is interrupted, the data read
 * so far stay next to the output. @throws UsageError, BackfillRefused, StateRefused; the signal's reason when it
 * aborts.
 */
export async function backfill(context: BackfillContext): Promise<string> {
  const { clock, config, flags, terminal, signal } = context;
  const output = outputOf(flags);
  using folder = new WorkFolder(output);
  const earlier = await findEarlierRun(folder, output, flags.resume ?? false);
  if (earlier === 'complete') return `${output} is complete: there is nothing to resume.\n`;
  if (!earlier && flags.resume && flags.source === undefined) {
    throw new BackfillRefused(`--resume: there is no interrupted run in ${folder.path}`);
  }
  const options = earlier ? resumedOptions(earlier, flags, config) : backfillOptions(flags, config, clock.now());
  if (!earlier && flags.resume) terminal.write(`There is no interrupted run in ${folder.path}. Starting a new one.\n`);
  const sources = sourcesFor(context, options);
  await using opened = new AsyncDisposableStack();
  try {
    const account = await openLedger(context, opened);
    const run: Run = {
      ...context,
      options,
      isDaily: options.source === 'daily_returns',
      output,
      sources,
      histories: historiesOf(sources),
      folder,
      account,
    };
    const plan = earlier ?? (await planned(run));
    const meter = agree(run, plan, earlier ? folder.store.completeSlices() : new Set());
    const fetched = await fetch(run, plan, meter);
    return await report(run, await write(run, fetched));
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error;
    throw explainFailure(error, options, await exists(folder.path));
  }
}

function sourcesFor({ config, log, clock }: BackfillContext, { source, chains }: BackfillOptions): Source[] {
  const sources = sourcesOf(config, log, clock.now()).filter(
    ({ name, chain }) => name === source && (chain === undefined || chains.includes(chain)),
  );
  if (sources.length === 0) throw new BackfillRefused(`${source}.enabled is false in the configuration`);
  return sources;
}

function historiesOf(sources: readonly Source[]): Map<string, History> {
  return new Map(sources.flatMap((one): [string, History][] => (one.history ? [[sourceId(one), one.history()]] : [])));
}

async function planned(run: Run): Promise<Plan> {
  const { account, clock, signal, config, sources, histories, options, isDaily, flags, terminal } = run;
  const { range, fullResolution, chains } = options;
  const now = clock.now();
  const scrapes = await readScrapes(config.state.dir, sources, now);
  const { covered, notes } = leaveOut(options, scrapes, flags.yes ?? false, now);
  for (const note of notes) terminal.write(`${note}\n`);
  if (isDaily && !limitsOf(run).isKnown) await learnLimits(run);
  const given = { flags: decidingFlags(flags), chains: [...chains], covered };
  const onWait = waitLines(terminal, clock);
  return makePlan({ api: account.api, clock, signal, onWait, histories, range, fullResolution, given });
}

/** Every response states the limits. If this request fails, later ones may still succeed. */
async function learnLimits({ options, account, signal }: Run): Promise<void> {
  const [chain = 'mainnet'] = options.chains;
  await askCheaply(account.api, chain, signal).catch(() => signal.throwIfAborted());
}

/** Makes a request whose answer matters only for its headers. */
async function askCheaply(api: Api, chain: Chain, signal: AbortSignal): Promise<void> {
  const body = { sync_committee_period: { view: 'latest' }, chain };
  const path = '/api/v2/ethereum/sync-committee';
  await api.request({ endpoint: 'sync_committee', priority: 'sync_committee', path, body }, z.unknown(), signal);
}

function limitsOf({ account, isDaily }: Run): AccountLimits {
  return account.allowance(isDaily ? 'daily_returns' : 'machine_metrics');
}

/** Shows the costs of what is left to read. @throws BackfillRefused if they exceed the quota and --yes is not given. */
function agree(run: Run, plan: Plan, complete: ReadonlySet<number>): Meter {
  const { options, isDaily, terminal, flags } = run;
  const meter = new Meter(plan, complete);
  const slicesLeft = plan.slices.length - complete.size;
  if (slicesLeft === 0) return meter;
  const what = `Backfill of ${isDaily ? `daily returns, ${options.chains.join(' and ')}` : 'machine metrics'}`;
  const costs = { what, requests: meter.expected, sequences: slicesLeft, ...limitsOf(run) };
  terminal.write(costsText(costs));
  if (!isOverBudget(costs) || flags.yes) return meter;
  const advice = isDaily ? 'a smaller --window' : 'a later --start';
  throw new BackfillRefused(
    `This exceeds the remaining budget. Use --yes to start anyway, or ${advice} to send fewer requests.`,
  );
}

/** Returns the plan, updated with what was learned. */
async function fetch(run: Run, plan: Plan, meter: Meter): Promise<Plan> {
  const { account, clock, terminal, signal, folder, histories, options } = run;
  await folder.save(plan);
  const began = clock.monotonic();
  const progress = new ProgressReport(terminal, clock, () => ({
    done: meter.done,
    expected: meter.expected,
    elapsedMs: clock.monotonic() - began,
    perSecond: limitsOf(run).perSecond,
  }));
  const fetchOptions = {
    api: account.api,
    clock,
    store: folder.store,
    histories,
    fullResolution: options.fullResolution,
    concurrency: () => concurrencyAt(limitsOf(run).perSecond),
    onWait: progress.onWait.bind(progress),
    onPage: (slice: Plan['slices'][number]) => {
      meter.page(slice);
      progress.onPage();
    },
    onSlice: meter.complete.bind(meter),
  };
  progress.start();
  try {
    return await fetchAll(fetchOptions, plan, signal);
  } finally {
    await progress.stop();
  }
}

/** Returns the plan, updated with what was written. */
function write(run: Run, plan: Plan): Promise<Plan> {
  const { folder, histories, options, output, clock, signal } = run;
  const { labels, step, maxSamples } = options;
  const series = {
    labels,
    chains: new Set<string>(options.chains),
    step,
    now: plan.now,
    isScraped: scrapedTest(run, plan),
  };
  return writeAll({ folder, store: folder.store, output, histories, clock, series, maxSamples }, plan, signal);
}

function scrapedTest({ sources }: Run, { covered }: Plan): SeriesOptions['isScraped'] {
  const byChain = new Map(sources.map((source) => [source.chain, covered[sourceId(source)]]));
  return ({ chain }, at) => {
    const times = byChain.get(chain as Chain);
    return times !== undefined && isScraped(times, at);
  };
}

/** Shows what was written, and returns what the user can do with it. */
async function report({ folder, options, isDaily, terminal }: Run, plan: Plan): Promise<string> {
  const { written } = plan;
  const { labels, fullResolution } = options;
  terminal.write(summary({ written, ...folder.store.flaws(), isDaily, fullResolution }));
  await folder.remove();
  const files = written.flatMap(({ parts }) => parts.map(({ file }) => file));
  const hasTargetLabels = labels['job'] !== undefined && labels['instance'] !== undefined;
  return files.length === 0 ? '' : nextSteps({ source: options.source, files, hasTargetLabels });
}
