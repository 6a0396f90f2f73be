import * as z from 'zod';
import { emptyLedger, Ledger } from '../budget/ledger.ts';
import type { Config } from '../config/config.ts';
import { planOf } from '../exporter/sources.ts';
import { FIRST_START, fingerprintOf, LEDGER } from '../exporter/state.ts';
import { type Entry, entrySchema, sourceId } from '../scheduler/entry.ts';
import { UsageError } from '../toolkit/flags/flags.ts';
import { systemClock } from '../toolkit/lib/clock.ts';
import type { Logger } from '../toolkit/lib/log.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { StateOfOtherVersion } from '../toolkit/state/envelope.ts';
import { peek } from '../toolkit/state/file.ts';
import { Replica } from '../toolkit/state/replica.ts';
import { describeMistake } from '../toolkit/yaml/mistakes.ts';
import { describeCosts, stretchWarnings } from './check-costs.ts';
import type { Flags } from './flag-table.ts';
import { mayProbe, type Probe, probe } from './probe/probe.ts';
import { expectNewFile, publicReportOf, writeReport } from './probe/public-report.ts';
import { isKeyRefused, refusalOf, reportOf, type Verdict, verdictOf } from './probe/report.ts';
import type { Given } from './read-settings.ts';
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
export async function runCheck(flags: Flags, given: Given, log: Logger): Promise<Verdict | 'notSafe'> {
  const { config, key, proxies } = given;
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
  const probed = isAsked ? await probe(given, proxies, now) : undefined;
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
  using stored = storedState(config, log);
  const problem = await stored.problem([FIRST_START, LEDGER, ...plan.sources.map(sourceId)]);
  const head = ['The configuration is valid.', ...warnings, ...(problem === undefined ? [] : [`Warning: ${problem}`])];
  if (probe && isKeyRefused(probe.ledger)) return [...head, reportOf(probe), ''].join('\n');
  const probed = probe && hasLimits(probe.ledger) ? probe.ledger : undefined;
  const ledger = probed ?? (await stored.peek(LEDGER, Ledger));
  if (!probe && ledger && isKeyRefused(ledger) && ledger.key.fingerprint === fingerprintOf(key))
    head.push(`Warning: key: ${refusalOf(ledger)} Run check --probe to try it again.`);
  const entries = new Map<string, Entry>();
  for (const source of plan.sources) {
    const entry = await stored.peek(sourceId(source), entrySchema(source));
    if (entry) entries.set(sourceId(source), entry);
  }
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

type Peek = <S extends z.ZodType>(name: string, schema: S) => Promise<z.output<S> | undefined>;

interface StoredState extends Disposable {
  readonly peek: Peek;
  /** Why `serve` could not use these documents now. */
  problem(names: readonly string[]): Promise<string | undefined>;
}

/** Reads the documents of the daemon or a replica. An unreadable document counts as unknown. */
function storedState({ state: { dir, redis } }: Config, log: Logger): StoredState {
  if (!redis) {
    const read: Peek = (name, schema) => peek(dir, name, schema);
    return {
      peek: leniently(read),
      problem: (names) => ofOtherVersion(names, read, 'serve would not start'),
      [Symbol.dispose]: () => undefined,
    };
  }
  const opened = Replica.open(redis, systemClock, log);
  const read: Peek = async (name, schema) => (await opened).peek(name, schema);
  return {
    peek: leniently(read),
    problem: (names) =>
      opened.then(
        () => ofOtherVersion(names, read, 'serve would not lead'),
        (error: unknown) => `${error instanceof Error ? error.message : error}; serve would not start`,
      ),
    [Symbol.dispose]: () => {
      opened.then((replica) => replica.close()).catch(() => undefined);
    },
  };
}

/** The costs can be computed without a state. */
function leniently(read: Peek): Peek {
  return (name, schema) => read(name, schema).catch(() => undefined);
}

/** The problem of the first document that another version wrote. */
async function ofOtherVersion(names: readonly string[], read: Peek, effect: string): Promise<string | undefined> {
  for (const name of names) {
    try {
      await read(name, z.unknown());
    } catch (error) {
      if (error instanceof StateOfOtherVersion) return `${effect}: ${error.message}`;
      throw error;
    }
  }
  return undefined;
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
