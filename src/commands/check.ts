import type * as z from 'zod';
import { createTransport } from '../api/transport.ts';
import { WINDOWS } from '../budget/headers.ts';
import { emptyLedger, Ledger, settled, UNNAMED } from '../budget/ledger.ts';
import { costOf } from '../budget/planner.ts';
import { budgetViewOf, configuredPaces, type Setup, setupOf, viewsOf } from '../exporter/setup.ts';
import { fingerprintOf, LEDGER, restoreEntries, type State } from '../exporter/state.ts';
import type { Chain } from '../facts/chain.ts';
import { STATE_VERSION } from '../facts/version.ts';
import { attemptOf, isOff, requestsPerRun, sourceId } from '../scheduler/entry.ts';
import type { BudgetView } from '../scheduler/paces.ts';
import { requestsPerDay, type SourceView, valueFor } from '../scheduler/schedules.ts';
import { latenessAt } from '../sources/lateness.ts';
import { type Inputs, NO_INPUTS } from '../sources/read.ts';
import type { Config, LoadedConfig } from '../sources/registry.ts';
import { columns } from '../toolkit/flags/columns.ts';
import { UsageError } from '../toolkit/flags/flags.ts';
import { systemClock } from '../toolkit/lib/clock.ts';
import { formatSeconds } from '../toolkit/lib/duration.ts';
import { messageOf } from '../toolkit/lib/error-code.ts';
import type { Logger } from '../toolkit/lib/log.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';
import { spaced, utc } from '../toolkit/lib/words.ts';
import { peek } from '../toolkit/state/file.ts';
import { Replica } from '../toolkit/state/replica.ts';
import { describeMistake } from '../toolkit/yaml/mistakes.ts';
import type { Flags } from './flag-table.ts';
import {
  announced,
  costOfProbe,
  foundIn,
  mayProbe,
  type Probe,
  probe,
  refusalOf,
  reportOf,
  type Verdict,
  verdictOf,
} from './probe/probe.ts';
import { expectNewFile, publicReportOf, writeReport } from './probe/public-report.ts';
import { costOfForms, formsReport, formsVerdict, tryForms } from './probe/without-key.ts';
import { askSafeToRestart } from './safe-to-restart.ts';

export interface CheckOptions extends Pick<LoadedConfig, 'config' | 'key' | 'warnings'> {
  readonly log: Logger;
  readonly probe?: Probe | undefined;
  readonly now: UnixMs;
}

/** @throws UsageError, CommandRefused */
export async function runCheck(flags: Flags, given: LoadedConfig, log: Logger): Promise<Verdict | 'notSafe'> {
  const { report, 'safe-to-restart': restart, 'without-key': isUnkeyed } = flags;
  if (isUnkeyed && !flags.probe) throw new UsageError('--without-key requires --probe');
  if (restart !== undefined) {
    const { isSafe, reason } = await askSafeToRestart(given, restart, await storedInputs(given.config, log));
    process.stdout.write(`${reason}\n`);
    return isSafe ? 'understood' : 'notSafe';
  }
  if (report !== undefined) {
    if (!flags.probe) throw new UsageError('--report requires --probe');
    await expectNewFile(report);
  }
  if (isUnkeyed) return checkForms(given, flags);
  const isAsked = flags.probe && (await mayProbe(costOfProbe(given.config), flags.yes ?? false));
  const probed = isAsked ? await probe(given) : undefined;
  process.stdout.write(await check({ ...given, log, probe: probed, now: systemClock.now() }));
  if (probed && report !== undefined)
    process.stdout.write(await writeReport(report, publicReportOf(probed.exchanges, given)));
  return probed ? verdictOf(probed) : 'understood';
}

/** `check --probe --without-key`. */
async function checkForms(given: LoadedConfig, { yes = false, report }: Flags): Promise<Verdict> {
  if (!(await mayProbe(costOfForms(given, systemClock.now()), yes))) return 'understood';
  const { timeoutMs } = given.config.api;
  const transport = createTransport({ timeoutMs, proxies: given.proxies });
  const tried = await tryForms(given, announced(transport.send), systemClock).finally(() => transport.close());
  process.stdout.write(formsReport(tried));
  if (report !== undefined) process.stdout.write(await writeReport(report, publicReportOf(tried, given)));
  return formsVerdict(tried);
}

/** Computes the cost of a configuration from responses of the service, the stored state or the configured plan. */
export async function check(options: CheckOptions): Promise<string> {
  const { config, key, log, probe, warnings, now } = options;
  const setup = setupOf(config);
  const { entries, problem, ...stored } = await storedState(config, setup, log);
  const doubts = warnings.map((warning) => `Warning: ${describeMistake(warning)}`);
  const head = ['The configuration is valid.', ...doubts];
  if (problem !== undefined) head.push(`Warning: serve would not start: ${problem}`);
  if (probe && refusalOf(probe.ledger)) return [...head, reportOf(probe, []), ''].join('\n');
  const probed = probe && hasLimits(probe.ledger) ? probe.ledger : undefined;
  // The exporter that wrote it may have stopped before this month.
  const ledger = probed ?? (stored.ledger && settled(stored.ledger, { now, held: now }));
  const refusal = !probe && ledger?.key.fingerprint === fingerprintOf(key) ? refusalOf(ledger) : undefined;
  if (refusal) head.push(`Warning: key: ${refusal} Run check --probe to try it again.`);
  const limitsFrom = probed ? 'as reported by the service' : originOf(ledger, config, probe !== undefined);
  const input = { state: { ledger: ledger ?? emptyLedger(), entries }, setup, limitsFrom, now };
  const report = probe ? [reportOf(probe, foundIn(config, probe.replies))] : [];
  return [...head, ...report, describeCosts(input)].join('\n');
}

function hasLimits({ buckets }: Ledger): boolean {
  return Object.values(buckets).some(({ limits }) => Object.keys(limits).length > 0);
}

/** What the sources of a chain have stored for each other. Only public keys need it. */
async function storedInputs(config: Config, log: Logger): Promise<(chain: Chain) => Inputs> {
  if (Object.values(config.validators.keys).every((keys) => keys.length === 0)) return () => NO_INPUTS;
  const setup = setupOf(config);
  const { entries } = await storedState(config, setup, log);
  const views = viewsOf({ ledger: emptyLedger(), entries }, setup, systemClock.now());
  return (chain) => views.find(({ source }) => source.chain === chain)?.inputs ?? NO_INPUTS;
}

/** What the exporter has stored, and why `serve` could not use it now. The costs can be computed without it. */
async function storedState({ state: { dir, redis } }: Config, setup: Setup, log: Logger) {
  const problems: string[] = [];
  const note = (error: unknown): undefined => void problems.push(messageOf(error));
  const replica = redis && (await Replica.open(redis, systemClock, log, { version: STATE_VERSION }).catch(note));
  async function read<S extends z.ZodType>(name: string, schema: S): Promise<z.output<S> | undefined> {
    const reading = redis ? replica?.peek(name, schema) : peek(dir, STATE_VERSION, name, schema);
    return reading?.catch(note);
  }
  const ledger = await read(LEDGER, Ledger);
  const entries = await restoreEntries({ load: read }, setup.sources);
  await replica?.close();
  return { ledger, entries, problem: problems[0] };
}

/** Where the limits come from. An exporter that never got a response leaves a ledger too. */
function originOf(ledger: Ledger | undefined, { budget }: Config, isAsked: boolean): string {
  if (ledger && hasLimits(ledger)) return 'as last reported to the exporter';
  if (budget.plan !== 'auto') return 'from the configured plan';
  const isAnswered = isAsked || (ledger !== undefined && ledger.key.standing !== 'unknown');
  const why = isAnswered
    ? 'not reported by the service, 1 request per second is assumed'
    : 'not known, because the service has not answered yet. 1 request per second is assumed; run check --probe to ask the service';
  return `${why}. A trial has 1000 requests in 30 days`;
}

export interface CheckInput {
  readonly state: State;
  readonly setup: Setup;
  readonly limitsFrom: string;
  readonly now: UnixMs;
}

/** Pure. The costs of a configuration, as configured and within the limits. */
export function describeCosts(input: CheckInput): string {
  const { state, setup, now } = input;
  // The costs assume a valid key.
  const ledger: Ledger = { ...state.ledger, key: { ...state.ledger.key, standing: 'valid' } };
  const budgetView = budgetViewOf(setup, ledger, now);
  const { allowedPerDay } = budgetView;
  const paces = configuredPaces({ ...state, ledger }, setup, now);
  const costs = viewsOf({ ...state, ledger }, setup, now).map((view) => {
    return { view, configuredPerDay: costOf(valueFor(paces, view.source)) };
  });
  const late = latenessAt(costs.map(({ view: { source, first } }) => ({ source, timing: first.timing })));
  const buckets = [...new Set(costs.flatMap(({ view }) => view.reads.map(({ bucket }) => bucket)))];
  return [
    `Limits: ${input.limitsFrom}.`,
    ...buckets.map((bucket) => describeBucket(input, bucket, allowedPerDay(bucket))),
    '',
    ...columns([
      ['source', 'chain', 'configured', 'requests/day', 'effective', 'requests/day', 'stretch', ''],
      ...costs.map(({ view, configuredPerDay }) => costRow(view, configuredPerDay)),
    ]),
    '',
    `Total: ${perDay(sum(costs.map(({ configuredPerDay }) => configuredPerDay)))} requests a day as configured, ${perDay(sum(costs.map(({ view }) => requestsPerDay(view))))} within the limits.`,
    ...costs.flatMap(({ view: { source } }) =>
      state.entries.has(sourceId(source)) ? [] : (source.more?.assumption ?? []),
    ),
    ...costs.flatMap(({ view }) => [...describeReads(view), ...describeSpare(view, budgetView)]),
    '',
    ...(late.length > 0 ? ['How late an alert can be, if no request fails:', ...columns(late), ''] : []),
  ].join('\n');
}

function costRow(view: SourceView, configuredPerDay: number): string[] {
  const { source, first } = view;
  const { read, pace, wait } = first;
  return [
    source.name,
    source.chain ?? '',
    duration(read.everyMs),
    perDay(configuredPerDay),
    duration(pace.intervalMs),
    perDay(requestsPerDay(view)),
    `x${(pace.intervalMs / read.everyMs).toFixed(pace.intervalMs === read.everyMs ? 0 : 1)}`,
    wait ? `waits for the quota until ${utc(wait.until)}` : (source.more?.leavesOut?.(first.timing) ?? ''),
  ];
}

/** The requests of each read of a source that has several, at the effective intervals. */
function describeReads({ source, reads }: SourceView): string[] {
  const costs = reads.flatMap(({ read: { name }, pace }) =>
    pace.requestsPerDay > 0 ? `${name} ${perDay(pace.requestsPerDay)}` : [],
  );
  const isSingle = source.reads.filter(({ spare }) => spare === undefined).length === 1;
  if (costs.length === 0 || (isSingle && costs.length === 1)) return [];
  const whose = `the ${spaced(source.name)}${source.chain ? ` of ${source.chain}` : ''}`;
  return [`Requests a day for ${whose}: ${costs.join(', ')}.`];
}

/** The cost of each read that uses spare requests, and why the read is on or off. */
function describeSpare({ source, entry, reads, leftOut }: SourceView, budgetView: BudgetView): string[] {
  return source.reads.flatMap((read) => {
    const { name, everyMs, spare } = read;
    if (spare === undefined) return [];
    const pace = { intervalMs: everyMs, isStretched: false, beside: [] };
    const price = read.price?.(pace, requestsPerRun(read, attemptOf(entry, read))) ?? 0;
    const given = leftOut.includes(name) ? undefined : reads.find((one) => one.read === read)?.pace;
    const why = (): string => {
      if (isOff(entry, read)) return 'off: the service refuses this';
      if (given?.isStretched) return `on, but cannot keep up: the other reads leave ${perDay(given.requestsPerDay)}`;
      if (given) return 'on';
      const { isMonthly } = budgetView.quotaOf(budgetView.bucketOf(source, read));
      if (isMonthly) return 'off: the plan has a monthly quota';
      return isMonthly === undefined
        ? 'off until the service has named the limits'
        : `off: takes more than ${spare * 100} % of the limits`;
    };
    return `${spaced(name)}${source.chain ? ` of ${source.chain}` : ''}: ${perDay(price)} requests a day, ${why()}.`;
  });
}

function describeBucket({ state, setup }: CheckInput, name: string, allowed: number): string {
  const bucket = state.ledger.buckets[name];
  const limits = WINDOWS.filter((window) => bucket?.limits[window] !== undefined).map(
    (window) => `${bucket?.limits[window]} per ${window}${window === 'second' ? '' : left(bucket?.remaining[window])}`,
  );
  const share = `${Math.round(setup.budgetOptions.utilization * 100)} % for this exporter: ${perDay(allowed)} requests a day`;
  const isKnown = name !== UNNAMED || limits.length > 0;
  const known = `bucket ${name || '(name not known yet)'}: ${limits.join(', ') || 'limits not known'}; `;
  return `  ${isKnown ? known : ''}${share}.`;
}

function left(remaining: number | undefined): string {
  return remaining === undefined ? '' : ` (${remaining} left)`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function duration(ms: Milliseconds): string {
  return formatSeconds(Math.max(1000, ms));
}

function perDay(requests: number): string {
  return requests >= 10 ? String(Math.round(requests)) : requests.toFixed(1);
}
