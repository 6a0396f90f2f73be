import { existsSync } from 'node:fs';
import { access, constants, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { RequestFailed } from '../api/errors.ts';
import { fetchAll } from '../backfill/fetch.ts';
import { makePlan, type Plan, requestsLeft } from '../backfill/plan.ts';
import { costsText, nextSteps, ProgressReport, resultText } from '../backfill/report.ts';
import { retryUntilAnswered } from '../backfill/retry.ts';
import { folderOf, isStoreFailure, Store } from '../backfill/store.ts';
import { writeAll } from '../backfill/write.ts';
import { BudgetClosed } from '../budget/permit.ts';
import { type Account, openAccount } from '../exporter/client.ts';
import {
  FIRST_START,
  FirstStart,
  loadDocument,
  openDocuments,
  restoreEntries,
  StateRefused,
} from '../exporter/state.ts';
import { sourceId } from '../scheduler/entry.ts';
import type { History } from '../sources/history.ts';
import { type Config, type LoadedConfig, sourcesOf } from '../sources/registry.ts';
import { systemClock, within } from '../toolkit/lib/clock.ts';
import { messageOf } from '../toolkit/lib/error-code.ts';
import type { Logger } from '../toolkit/lib/log.ts';
import type { Milliseconds, Seconds, UnixMs, UnixSeconds } from '../toolkit/lib/time.ts';
import { spaced, utc } from '../toolkit/lib/words.ts';
import { StateLocked } from '../toolkit/state/lock.ts';
import { LeaseLost, type Replica } from '../toolkit/state/replica.ts';
import type { StateStore } from '../toolkit/state/store.ts';
import { type BackfillOptions, backfillOptions, decidingFlags, outputOf, rangeOf } from './backfill-flags.ts';
import type { Flags } from './flag-table.ts';
import { CommandRefused } from './refusals.ts';

export interface BackfillContext extends LoadedConfig {
  readonly flags: Flags;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

interface Run extends BackfillContext {
  readonly options: BackfillOptions;
  readonly output: string;
  /** By the id of the source. */
  readonly histories: ReadonlyMap<string, History>;
  readonly documents: StateStore;
  readonly account: Account;
  readonly progress: ProgressReport;
}

const clock = systemClock;
const terminal = process.stderr;

/**
 * Runs until it is done or stopped. If it is interrupted, the data read so far stay next to the output.
 * @throws UsageError, CommandRefused, StateRefused
 */
export async function runBackfill(context: BackfillContext): Promise<void> {
  const { flags, signal } = context;
  const output = outputOf(flags);
  terminal.on('error', () => undefined);
  try {
    process.stdout.write(await backfill(context, output));
  } catch (error) {
    const reason = signal.aborted ? 'Stopped.' : reasonOf(error, output);
    if (reason === undefined) throw error;
    const message = existsSync(folderOf(output)) ? `${reason}\n${KEPT}` : reason;
    if (!signal.aborted) throw new CommandRefused(message);
    terminal.write(`${message}\n`);
  }
}

/** Returns the next steps for the user. */
async function backfill(context: BackfillContext, output: string): Promise<string> {
  const { config, key, proxies, log, flags, signal } = context;
  await using opened = new AsyncDisposableStack();
  const earlier = await earlierRun(output, flags, opened);
  const options = earlier
    ? backfillOptions(earlier.plan.flags, config, earlier.plan.now * 1000)
    : backfillOptions(flags, config, clock.now());
  const state = await openStateFor(context, opened);
  const histories = await historiesOf(config, options, state.documents);
  const account = await openAccount({
    settings: { config, key },
    proxies,
    clock,
    ...state,
    onSaveError: (error) => log.error({ err: String(error) }, 'ledger not written'),
  });
  opened.defer(() => account.close());
  const progress = new ProgressReport(terminal, clock);
  for (const { prepare } of histories.values()) {
    const { onWait } = progress;
    await retryUntilAnswered(async () => prepare?.(account.api, signal), { clock, signal, onWait });
  }
  if (earlier) assertSameBasis(earlier.plan, histories);
  const run: Run = { ...context, ...state, options, output, histories, account, progress };
  const plan = earlier?.plan ?? (await planned(run));
  agree(run, plan, earlier?.store.left() ?? new Map());
  const store = earlier?.store ?? opened.use(await Store.open(folderOf(output)));
  if (!earlier) store.save(plan);
  await fetch(run, store, plan);
  return await write(run, store, plan);
}

/**
 * The state of an interrupted run. Undefined if there was none.
 * @throws CommandRefused if files would be overwritten, or the run cannot be resumed
 */
async function earlierRun(
  output: string,
  flags: Flags,
  opened: AsyncDisposableStack,
): Promise<{ plan: Plan; store: Store } | undefined> {
  const directory = dirname(output);
  const folder = folderOf(output);
  await access(directory, constants.W_OK).catch((error: NodeJS.ErrnoException) => {
    throw new CommandRefused(`--output: the directory ${directory} cannot be written: ${error.code}`);
  });
  if (!existsSync(folder)) {
    if (flags.resume) throw new CommandRefused(`--resume: there is no interrupted run in ${folder}`);
    const first = basename(output);
    const isOurs = (name: string): boolean => name.startsWith(first) && /^(\.\d+)?$/.test(name.slice(first.length));
    const file = (await readdir(directory)).find(isOurs);
    if (file === undefined) return undefined;
    throw new CommandRefused(`${join(directory, file)} exists: choose another --output or remove it`);
  }
  if (!flags.resume) {
    throw new CommandRefused(`an interrupted run left ${folder}: continue with --resume, or remove it to start again`);
  }
  try {
    const store = opened.use(await Store.open(folder));
    const plan = store.plan();
    if (!plan) throw new Error('it has no plan');
    const given = decidingFlags(flags);
    if (Object.keys(given).length === 0 || isDeepStrictEqual(given, plan.flags)) return { plan, store };
    throw new CommandRefused('--resume: the interrupted run has other flags. Give --output alone to continue it');
  } catch (error) {
    if (error instanceof CommandRefused) throw error;
    throw new CommandRefused(`${folder} cannot be read (${messageOf(error)}): remove it to start again`);
  }
}

async function historiesOf(
  config: Config,
  { source, chain: wanted }: BackfillOptions,
  documents: StateStore,
): Promise<ReadonlyMap<string, History>> {
  const sources = sourcesOf(config).filter(
    ({ name, chain = wanted }) => name === source && (wanted === undefined || chain === wanted),
  );
  if (sources.length === 0) {
    const on = wanted === undefined ? '' : ` on ${wanted}`;
    throw new CommandRefused(`The configuration enables no ${spaced(source)}${on}, so there is nothing to read.`);
  }
  const entries = await restoreEntries(documents, sources);
  return new Map(
    sources.flatMap((one): [string, History][] => {
      const id = sourceId(one);
      const history = one.more?.history?.(entries.get(id)?.value ?? one.empty);
      return history ? [[id, history]] : [];
    }),
  );
}

function assertSameBasis({ slices }: Plan, histories: ReadonlyMap<string, History>): void {
  const isSame = slices.every(({ source, range, basis }) => histories.get(source)?.basis?.(range) === basis);
  const advice = 'restore them to continue, or remove the data to start again';
  if (!isSame) throw new CommandRefused(`--resume: the validators or their groups have changed: ${advice}`);
}

/** Longer than it takes to notice that a replica has stopped without giving its lease back. */
const LEASE_WAIT_MS: Milliseconds = 15_000;

/**
 * Two processes with a ledger each would both spend all that is left of the budget. Therefore the backfill takes the lock
 * of the state, or the lease of the replicas, as the exporter does. @throws CommandRefused
 */
async function openStateFor(
  { config, log, signal }: BackfillContext,
  opened: AsyncDisposableStack,
): Promise<{ documents: StateStore; replica?: Replica }> {
  const { documents, replica } = await openDocuments(config.state, log).catch((error: unknown) => {
    if (!(error instanceof StateRefused && error.cause instanceof StateLocked)) throw error;
    throw new CommandRefused(`${error.message}. ${WHY_LOCKED}`);
  });
  opened.defer(() => documents.close());
  if (!replica) return { documents };
  const leading = new Promise<void>((resolve) => {
    const nothing = (): void => undefined;
    replica.start({ onLead: resolve, onLapse: nothing, onDocument: nothing });
  });
  const late = (): never => {
    throw new CommandRefused(`state.redis: a replica leads: stop it first. ${WHY_LOCKED}`);
  };
  await within(clock, LEASE_WAIT_MS, leading, late, signal);
  return { documents, replica };
}

const WHY_LOCKED = 'A backfill spends from the same limits as the exporter, and only one process can count them.';

async function planned(run: Run): Promise<Plan> {
  const { account, signal, documents, histories, options, flags, progress } = run;
  const now = Math.floor(clock.now() / 1000);
  const firstStart = await loadDocument(documents, FIRST_START, FirstStart);
  const ends = [...histories].map(([id, history]) => {
    const { end, note } = endOf(options.end, liveSince(history, firstStart?.at), now);
    return { id, end, note, range: rangeOf(options, end, now) };
  });
  for (const note of new Set(ends.flatMap(({ note = [] }) => note))) terminal.write(`${note}\n`);
  const ranges = new Map(
    ends.flatMap(({ id, range, end }) => ('start' in range && range.start >= end ? [] : [[id, range]])),
  );
  if (ranges.size === 0) throw new CommandRefused('There is nothing to read: the range begins after its end.');
  const end = Math.max(...ends.map((one) => one.end));
  const plan = { ranges, fullResolution: options.fullResolution, flags: decidingFlags(flags), now, end };
  return makePlan({ api: account.api, clock, signal, onWait: progress.onWait, histories, ...plan });
}

/** The first sweep of an exporter shows records of up to this age. */
const FIRST_SWEEP_SECONDS: Seconds = 360;

/** When the exporter began to expose the same series. */
interface Live {
  /** The latest time before. */
  readonly before: UnixSeconds;
  /** In words. */
  readonly first: string;
}

/** Pure. Undefined if no scrape has these series. */
export function liveSince({ liveFrom }: Pick<History, 'liveFrom'>, firstStart: UnixMs | undefined): Live | undefined {
  if (liveFrom === null) return undefined;
  if (liveFrom !== undefined) {
    return { before: liveFrom, first: `the exporter counts epochs from ${utc(liveFrom * 1000)} on` };
  }
  if (firstStart === undefined) return undefined;
  const before = Math.floor(firstStart / 1000) - FIRST_SWEEP_SECONDS;
  return { before, first: `the exporter first started at ${utc(firstStart)}` };
}

/** Pure. When the backfill ends, and what the user should know about it. */
export function endOf(
  given: UnixSeconds | undefined,
  live: Live | undefined,
  now: UnixSeconds,
): { end: UnixSeconds; note?: string } {
  if (!live) return { end: given ?? now };
  const { first } = live;
  const before = Math.min(now, live.before);
  if (given === undefined)
    return { end: before, note: `The backfill ends at ${utc(before * 1000)}, because ${first}.` };
  if (given <= before) return { end: given };
  const effect = 'counters step back where both scrapes and the backfill have samples, and rate() shows peaks there';
  return { end: given, note: `Warning: ${first}, before --end: ${effect}.` };
}

/** Shows the costs of what is left to read. @throws CommandRefused if they exceed the quota and --yes is not given */
function agree(run: Run, plan: Plan, left: ReadonlyMap<number, number>): void {
  const { account, options, flags, histories } = run;
  const sequences = plan.slices.filter(({ id }) => left.get(id) !== 0).length;
  if (sequences === 0) return;
  const what = `Backfill of ${[...histories.keys()].join(' and ')}`;
  const limits = account.allowance(options.past.endpoint);
  const costs = { what, requests: requestsLeft(plan, left), parts: options.past.parts, sequences, ...limits };
  terminal.write(costsText(costs));
  if (flags.yes || costs.requests <= (costs.left.month ?? Number.POSITIVE_INFINITY)) return;
  const advice = options.past.isDaily ? 'a smaller --window' : 'a later --start';
  throw new CommandRefused(
    `This exceeds the requests left this month. Use --yes to start anyway, or ${advice} to send fewer requests.`,
  );
}

async function fetch(run: Run, store: Store, plan: Plan): Promise<void> {
  const { account, signal, histories, progress } = run;
  progress.start(() => requestsLeft(plan, store.left()));
  const { onWait, onPage } = progress;
  try {
    await fetchAll({ api: account.api, store, clock, signal, histories, onWait, onPage }, plan);
  } finally {
    progress.stop();
  }
}

/** Shows what was written, and returns what the user can do with it. */
async function write(run: Run, store: Store, plan: Plan): Promise<string> {
  const { options, output, histories, signal } = run;
  const { past, chain, labels, step } = options;
  const series = { labels, chain, step, end: plan.end };
  const { isDaily } = past;
  const written = await writeAll({ store, output, histories, isDaily, series, clock, signal }, plan);
  const result = { past, written, ...store.flaws() };
  terminal.write(resultText(result));
  await store.remove();
  return nextSteps(result);
}

const KEPT = 'The data read so far are kept. To continue, run the same command with --resume.';

const FORBIDDEN = 'The plan of the account does not include these data (403).';
const FORBIDDEN_DAYS = `${FORBIDDEN}
Daily returns with --start need a Scale or Enterprise plan. Every plan allows --window and --end.`;

const REVOKED = 'Access is revoked: the trial is over or the subscription was cancelled.';

/** Why the run ended, and what to do. Undefined if the error is unexpected. */
export function reasonOf(error: unknown, output: string): string | undefined {
  if (error instanceof BudgetClosed) {
    if (!Number.isFinite(error.until)) return REVOKED;
    return `The limits of the plan allow no request until ${new Date(error.until).toISOString()}.`;
  }
  if (error instanceof LeaseLost) return 'Redis could not be reached, or a replica was started, so the lease is lost.';
  if (error instanceof RequestFailed) {
    if (error.reason === 'revoked') return REVOKED;
    if (error.reason !== 'forbidden') return `A request failed (${error.message}).`;
    return error.endpoint === 'daily_returns' ? FORBIDDEN_DAYS : FORBIDDEN;
  }
  if (!(error instanceof Error)) return undefined;
  if (!isStoreFailure(error) && !('syscall' in error)) return undefined;
  return `${output} or a file in ${folderOf(output)} cannot be written or read: ${error.message}.`;
}
