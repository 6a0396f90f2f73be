import { emptyLedger } from '../budget/ledger.ts';
import type { LoadedConfig } from '../config/load.ts';
import { openClient } from '../exporter/client.ts';
import { validatorsOptions } from '../exporter/sources.ts';
import { periodAt, readMembers, startOf, watchedMembers } from '../sources/validators/committees.ts';
import type { ValidatorsOptions } from '../sources/validators/options.ts';
import { NO_VALIDATORS, type Validators } from '../sources/validators/schema.ts';
import { UsageError } from '../toolkit/flags/flags.ts';
import { systemClock } from '../toolkit/lib/clock.ts';
import { parseDuration } from '../toolkit/lib/duration.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';
import { listed, plural, utc } from '../toolkit/lib/words.ts';

export interface Safety {
  readonly isSafe: boolean;
  /** Why, and until when. */
  readonly reason: string;
}

/** Asks for the members of this and the next sync committee of each chain. @throws UsageError for an invalid duration */
export async function askSafeToRestart(settings: LoadedConfig, text: string): Promise<Safety> {
  const withinMs = parseDuration(text);
  if (withinMs === undefined)
    throw new UsageError(`--safe-to-restart: expected a duration such as 30m, got ${JSON.stringify(text)}`);
  const { chains, validators } = settings.config;
  const watched = chains.filter(({ name }) => validators.watch[name].length > 0);
  if (watched.length === 0) return { isSafe: false, reason: 'not known: validators.watch names no validator' };
  const client = openClient({
    settings: () => settings,
    proxies: settings.proxies,
    clock: systemClock,
    ledger: emptyLedger(),
  });
  const found: Safety[] = [];
  try {
    for (const { name: chain } of watched) {
      const now = systemClock.now();
      const options = validatorsOptions(settings.config, chain);
      const timing = { now, intervalMs: validators.intervalMs, coverage: 'full' } as const;
      const context = { options, api: client.api, timing, signal: new AbortController().signal, events: [] };
      const { value, failure } = await readMembers(context, NO_VALIDATORS);
      found.push(safeToRestart(options, value, withinMs, now, failure));
    }
  } finally {
    await client.close();
  }
  const bad = found.filter(({ isSafe }) => !isSafe);
  return { isSafe: bad.length === 0, reason: (bad.length > 0 ? bad : found).map(({ reason }) => reason).join('; ') };
}

/** Pure. Whether no watched validator is in a sync committee now or within this time. */
function safeToRestart(
  options: Pick<ValidatorsOptions, 'chain' | 'watch'>,
  value: Validators,
  withinMs: Milliseconds,
  now: UnixMs,
  failure?: Error,
): Safety {
  const { chain } = options;
  const current = periodAt(chain, now);
  const last = periodAt(chain, now + withinMs);
  for (let period = current; period <= last; period += 1) {
    const members = watchedMembers(options, value, period);
    const when =
      period === current ? `until ${utc(startOf(chain, period + 1))}` : `from ${utc(startOf(chain, period))}`;
    if (!members) {
      const why = failure?.message ?? 'the service does not know the members yet';
      return { isSafe: false, reason: `not known for the ${chain} sync committee ${when}: ${why}` };
    }
    if (members.length > 0) {
      const who = `${plural(members.length, 'watched validator')} (${listed(members)})`;
      return { isSafe: false, reason: `no: in the ${chain} sync committee ${when}: ${who}` };
    }
  }
  return {
    isSafe: true,
    reason: `yes: no watched validator of ${chain} is in a sync committee until ${utc(startOf(chain, last + 1))}`,
  };
}
