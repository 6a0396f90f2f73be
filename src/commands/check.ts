import type * as z from 'zod';
import { WINDOWS } from '../budget/headers.ts';
import { emptyLedger, Ledger, UNNAMED } from '../budget/ledger.ts';
import type { Config } from '../config/config.ts';
import type { LoadedConfig } from '../config/load.ts';
import { budgetViewOf, planOf, type SourcePlan, validatorsOptions, viewsOf } from '../exporter/sources.ts';
import { fingerprintOf, LEDGER, restoreEntries, type State } from '../exporter/state.ts';
import { MS_PER_PERIOD } from '../facts/chain.ts';
import { STATE_VERSION } from '../facts/version.ts';
import { requestsPerPoll } from '../scheduler/entry.ts';
import type { SourceView } from '../scheduler/schedules.ts';
import type { Pace, Source } from '../sources/source.ts';
import { requestsPerStatusPoll } from '../sources/validators/index.ts';
import { columns } from '../toolkit/flags/columns.ts';
import { UsageError } from '../toolkit/flags/flags.ts';
import { systemClock } from '../toolkit/lib/clock.ts';
import { formatDuration, MS_PER_DAY, MS_PER_MINUTE } from '../toolkit/lib/duration.ts';
import { messageOf } from '../toolkit/lib/error-code.ts';
import type { Logger } from '../toolkit/lib/log.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';
import { utc } from '../toolkit/lib/words.ts';
import { peek } from '../toolkit/state/file.ts';
import { Replica } from '../toolkit/state/replica.ts';
import { describeMistake } from '../toolkit/yaml/mistakes.ts';
import type { Flags } from './flag-table.ts';
import { foundIn } from './probe/found.ts';
import { mayProbe, type Probe, probe, refusalOf, reportOf, type Verdict, verdictOf } from './probe/probe.ts';
import { expectNewFile, publicReportOf, writeReport } from './probe/public-report.ts';
import { askSafeToRestart } from './safe-to-restart.ts';

export interface CheckOptions extends Pick<LoadedConfig, 'config' | 'key' | 'warnings'> {
  readonly log: Logger;
  readonly probe?: Probe | undefined;
  readonly now: UnixMs;
}

/** Runs the command: prints the result, and returns how it ends. @throws UsageError, CommandRefused */
export async function runCheck(flags: Flags, given: LoadedConfig, log: Logger): Promise<Verdict | 'notSafe'> {
  const { report, 'safe-to-restart': restart } = flags;
  if (restart !== undefined) {
    const { isSafe, reason } = await askSafeToRestart(given, restart);
    process.stdout.write(`${reason}\n`);
    return isSafe ? 'understood' : 'notSafe';
  }
  if (report !== undefined) {
    if (!flags.probe) throw new UsageError('--report requires --probe');
    await expectNewFile(report);
  }
  const isAsked = flags.probe && (await mayProbe(given.config, flags.yes ?? false));
  const probed = isAsked ? await probe(given) : undefined;
  process.stdout.write(await check({ ...given, log, probe: probed, now: systemClock.now() }));
  if (probed && report !== undefined)
    process.stdout.write(await writeReport(report, publicReportOf(probed.exchanges, given)));
  return probed ? verdictOf(probed) : 'understood';
}

/** Computes the cost of a configuration from responses of the service, the stored state or the configured plan. */
export async function check(options: CheckOptions): Promise<string> {
  const { config, key, log, probe, warnings, now } = options;
  const plan = planOf(config);
  const { entries, problem, ...stored } = await storedState(config, plan, log);
  const doubts = warnings.map((warning) => `Warning: ${describeMistake(warning)}`);
  const head = ['The configuration is valid.', ...doubts];
  if (problem !== undefined) head.push(`Warning: serve would not start: ${problem}`);
  if (probe && refusalOf(probe.ledger)) return [...head, reportOf(probe, []), ''].join('\n');
  const probed = probe && hasLimits(probe.ledger) ? probe.ledger : undefined;
  const ledger = probed ?? stored.ledger;
  const refusal = !probe && ledger?.key.fingerprint === fingerprintOf(key) ? refusalOf(ledger) : undefined;
  if (refusal) head.push(`Warning: key: ${refusal} Run check --probe to try it again.`);
  const limitsFrom = probed ? 'as reported by the service' : originOf(ledger, config, probe !== undefined);
  const input = { state: { ledger: ledger ?? emptyLedger(), entries }, plan, config, limitsFrom, now };
  const report = probe ? [reportOf(probe, foundIn(config, probe.replies))] : [];
  return [...head, ...stretchWarnings(input), ...report, describeCosts(input)].join('\n');
}

function hasLimits({ buckets }: Ledger): boolean {
  return Object.values(buckets).some(({ limits }) => Object.keys(limits).length > 0);
}

interface StoredState extends Pick<State, 'entries'> {
  readonly ledger: Ledger | undefined;
  /** Why `serve` could not use the state now. */
  readonly problem: string | undefined;
}

/** What the daemon or a replica has stored. The costs can be computed without it. */
async function storedState({ state: { dir, redis } }: Config, plan: SourcePlan, log: Logger): Promise<StoredState> {
  let problem: string | undefined;
  const note = (error: unknown): undefined => {
    problem ??= messageOf(error);
  };
  const replica = redis && (await Replica.open(redis, systemClock, log, { version: STATE_VERSION }).catch(note));
  async function read<S extends z.ZodType>(name: string, schema: S): Promise<z.output<S> | undefined> {
    const reading = redis ? replica?.peek(name, schema) : peek(dir, STATE_VERSION, name, schema);
    return reading?.catch(note);
  }
  const ledger = await read(LEDGER, Ledger);
  const entries = await restoreEntries({ load: read }, plan.sources);
  await replica?.close();
  return { ledger, entries, problem };
}

/** A daemon that got no answer leaves a ledger too. */
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
  readonly plan: SourcePlan;
  readonly config: Config;
  /** Text: where the limits come from. */
  readonly limitsFrom: string;
  readonly now: UnixMs;
}

const COVERAGE: Readonly<Record<Pace['coverage'], string>> = {
  full: '',
  finalized: 'no head passes, every finalized epoch',
  sampled: 'newest finalized epoch only, the others are skipped',
};

/** The costs of a configuration as a table: as configured, what the limits allow, and the result. Pure. */
export function describeCosts(input: CheckInput): string {
  const { state, plan, config, now } = input;
  // The costs assume that the key is valid, whatever is known of it.
  const ledger: Ledger = { ...state.ledger, key: { ...state.ledger.key, standing: 'valid' } };
  const { allowedPerDay } = budgetViewOf(plan, ledger, now);
  const costs = viewsOf({ ...state, ledger }, plan, now).map((view) => ({
    view,
    configured: view.source.pace(Number.POSITIVE_INFINITY, requestsPerPoll(view.entry)),
  }));
  const buckets = [...new Set(costs.map(({ view }) => view.bucket))];
  return [
    `Limits: ${input.limitsFrom}.`,
    ...buckets.map((bucket) => describeBucket(input, bucket, allowedPerDay(bucket))),
    '',
    ...columns([
      ['source', 'chain', 'configured', 'requests/day', 'effective', 'requests/day', 'stretch', ''],
      ...costs.map(rowOf),
    ]),
    '',
    `Total: ${perDay(sum(costs.map(({ configured }) => configured)))} requests a day as configured, ${perDay(sum(costs.map(({ view }) => view.pace)))} within the limits.`,
    ...(!config.machines.enabled || state.entries.has('machines')
      ? []
      : ['A sweep of the machines is assumed to take one request, which is enough for up to 8 machines.']),
    ...costs.flatMap(({ view }) => describeParts(input, view)),
    '',
  ].join('\n');
}

/** Settings that do not work as intended at the pace that the limits allow. */
export function stretchWarnings({ config, state, plan, now }: CheckInput): string[] {
  return viewsOf(state, plan, now).flatMap((view) => {
    if (view.source.name === 'machines') return withdrawalWarning(config, view);
    return view.source.name === 'validators' ? lateWarning(view) : [];
  });
}

function withdrawalWarning({ machines }: Config, { pace }: SourceView): string[] {
  const { staleAfterMs, intervalMs } = machines;
  if (staleAfterMs === 'auto') return [];
  // Otherwise the warning about the configured interval covers it.
  if (staleAfterMs < intervalMs + MS_PER_MINUTE || staleAfterMs >= pace.intervalMs + MS_PER_MINUTE) return [];
  const lengths = `machines.stale_after (${duration(staleAfterMs)}) is less than the effective interval (${duration(pace.intervalMs)}) plus the minute between two pushes`;
  return [`Warning: ${lengths}: values are withdrawn between polls. Set stale_after to auto.`];
}

function lateWarning({ source, pace }: SourceView): string[] {
  if (pace.intervalMs <= Math.max(source.intervalMs, MS_PER_DAY)) return [];
  const polls = `The limits allow a poll of the validators of ${source.chain} every ${duration(pace.intervalMs)}`;
  return [`Warning: ${polls}: alerts on them come too late. Name fewer in validators.watch, or choose a larger plan.`];
}

interface Cost {
  readonly view: SourceView;
  readonly configured: Pace;
}

function rowOf({ view: { source, pace, wait }, configured }: Cost): string[] {
  return [
    source.name,
    source.chain ?? '',
    duration(configured.intervalMs),
    perDay(configured.requestsPerDay),
    duration(pace.intervalMs),
    perDay(pace.requestsPerDay),
    `x${(pace.intervalMs / source.intervalMs).toFixed(pace.intervalMs === source.intervalMs ? 0 : 1)}`,
    wait ? `waits for the quota until ${utc(wait.until)}` : noteOn(source, pace),
  ];
}

function noteOn({ name, intervalMs }: Source, pace: Pace): string {
  return name === 'network' && pace.intervalMs > intervalMs ? 'without the queues' : COVERAGE[pace.coverage];
}

/** The requests of each part of the validators, at the effective interval. */
function describeParts({ config }: CheckInput, { source, pace }: SourceView): string[] {
  const { chain } = source;
  if (source.name !== 'validators' || !chain) return [];
  const { groups, status, rewards, syncCommittee } = validatorsOptions(config, chain);
  const requests = requestsPerStatusPoll(groups);
  const ofStatus = (perPoll: number): string => perDay((perPoll * MS_PER_DAY) / pace.intervalMs);
  const parts = [
    ...(status ? [`status ${ofStatus(requests.status)}, duties and score ${ofStatus(requests.aggregate)}`] : []),
    ...(rewards ? [`rewards ${ofStatus(requests.aggregate)}`] : []),
    ...(syncCommittee ? [`sync committees ${perDay(MS_PER_DAY / MS_PER_PERIOD)}`] : []),
    ...(config.slashings.enabled && config.validators.proposerSlashings ? ['proposer slashings one for each'] : []),
  ];
  return [`Requests a day for the validators of ${chain}: ${parts.join(', ')}.`];
}

function describeBucket({ state, plan }: CheckInput, name: string, allowed: number): string {
  const bucket = state.ledger.buckets[name];
  const limits = WINDOWS.filter((window) => bucket?.limits[window] !== undefined).map(
    (window) => `${bucket?.limits[window]} per ${window}${window === 'second' ? '' : left(bucket?.remaining[window])}`,
  );
  const share = `${Math.round(plan.budgetOptions.utilization * 100)} % for this exporter: ${perDay(allowed)} requests a day`;
  const isKnown = name !== UNNAMED || limits.length > 0;
  const known = `bucket ${name || '(name not known yet)'}: ${limits.join(', ') || 'limits not known'}; `;
  return `  ${isKnown ? known : ''}${share}.`;
}

function left(remaining: number | undefined): string {
  return remaining === undefined ? '' : ` (${remaining} left)`;
}

function sum(paces: readonly Pace[]): number {
  return paces.reduce((total, pace) => total + pace.requestsPerDay, 0);
}

function duration(ms: Milliseconds): string {
  return formatDuration(Math.max(1, Math.round(ms / 1000)) * 1000);
}

function perDay(requests: number): string {
  return requests >= 10 ? String(Math.round(requests)) : requests.toFixed(1);
}
