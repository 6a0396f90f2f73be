import type * as z from 'zod';
import { emptyLedger, Ledger } from '../budget/ledger.ts';
import type { Config } from '../config/config.ts';
import type { LoadedConfig } from '../config/load.ts';
import { planOf, type SourcePlan } from '../exporter/sources.ts';
import { fingerprintOf, LEDGER, type State } from '../exporter/state.ts';
import { type Entry, entrySchema, sourceId } from '../scheduler/entry.ts';
import { UsageError } from '../toolkit/flags/flags.ts';
import { systemClock } from '../toolkit/lib/clock.ts';
import type { Logger } from '../toolkit/lib/log.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { peek } from '../toolkit/state/file.ts';
import { Replica } from '../toolkit/state/replica.ts';
import { describeMistake } from '../toolkit/yaml/mistakes.ts';
import { describeCosts, stretchWarnings } from './check-costs.ts';
import type { Flags } from './flag-table.ts';
import {
  isKeyRefused,
  mayProbe,
  type Probe,
  probe,
  refusalOf,
  reportOf,
  type Verdict,
  verdictOf,
} from './probe/probe.ts';
import { expectNewFile, publicReportOf, writeReport } from './probe/public-report.ts';
import { askSafeToRestart } from './safe-to-restart.ts';

export interface CheckOptions {
  readonly config: Config;
  readonly key: string;
  readonly log: Logger;
  /** The answers of the service, if it was asked. */
  readonly probe?: Probe | undefined;
  readonly warnings: readonly string[];
  readonly now: UnixMs;
}

/** Runs the command: prints the result, and returns how it ends. @throws UsageError, CommandRefused */
export async function runCheck(flags: Flags, given: LoadedConfig, log: Logger): Promise<Verdict | 'notSafe'> {
  const { config, key } = given;
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
  const isAsked = flags.probe && (await mayProbe(config, flags.yes ?? false));
  const now = systemClock.now();
  const probed = isAsked ? await probe(given, now) : undefined;
  const warnings = given.warnings.map((warning) => `Warning: ${describeMistake(warning)}`);
  process.stdout.write(await check({ config, key, log, probe: probed, warnings, now }));
  if (probed && report !== undefined)
    process.stdout.write(await writeReport(report, publicReportOf(probed.exchanges, given)));
  return probed ? verdictOf(probed) : 'understood';
}

/** Computes the cost of a configuration from responses of the service, the stored state or the configured plan. */
export async function check(options: CheckOptions): Promise<string> {
  const { config, key, log, probe, warnings, now } = options;
  const plan = planOf(config);
  const { entries, problem, ...stored } = await storedState(config, plan, log);
  const head = ['The configuration is valid.', ...warnings];
  if (problem !== undefined) head.push(`Warning: serve would not start: ${problem}`);
  if (probe && isKeyRefused(probe.ledger)) return [...head, reportOf(probe), ''].join('\n');
  const probed = probe && hasLimits(probe.ledger) ? probe.ledger : undefined;
  const ledger = probed ?? stored.ledger;
  if (!probe && ledger && isKeyRefused(ledger) && ledger.key.fingerprint === fingerprintOf(key))
    head.push(`Warning: key: ${refusalOf(ledger)} Run check --probe to try it again.`);
  const limitsFrom = probed ? 'as reported by the service' : originOf(ledger, config, probe !== undefined);
  const input = {
    state: { ledger: ledger ?? emptyLedger(), entries },
    plan,
    validators: config.validators,
    limitsFrom,
    now,
  };
  const stretched = stretchWarnings(config, input);
  return [...head, ...stretched, ...(probe ? [reportOf(probe)] : []), describeCosts(input)].join('\n');
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
    problem ??= error instanceof Error ? error.message : String(error);
  };
  const replica = redis && (await Replica.open(redis, systemClock, log).catch(note));
  async function read<S extends z.ZodType>(name: string, schema: S): Promise<z.output<S> | undefined> {
    const reading = redis ? replica?.peek(name, schema) : peek(dir, name, schema);
    return reading?.catch(note);
  }
  const ledger = await read(LEDGER, Ledger);
  const entries = new Map<string, Entry>();
  for (const source of plan.sources) {
    const entry = await read(sourceId(source), entrySchema(source));
    if (entry) entries.set(sourceId(source), entry);
  }
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
