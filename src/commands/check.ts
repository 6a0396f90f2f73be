import type { z } from 'zod';
import { emptyLedger, Ledger } from '../budget/ledger.ts';
import type { Config } from '../config/config.ts';
import { viewOptionsOf } from '../exporter/sources.ts';
import { LEDGER } from '../exporter/state.ts';
import { systemClock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Proxies } from '../lib/proxies.ts';
import type { UnixMs } from '../lib/time.ts';
import { RedisState } from '../replica/redis.ts';
import { RedisLink } from '../replica/redis-link.ts';
import { type Entry, entrySchema, sourceId } from '../state/entry.ts';
import { peek } from '../state/file.ts';
import { describeCosts } from './check-costs.ts';
import { probe } from './check-probe.ts';
import { withoutEffect } from './without-effect.ts';

export interface CheckOptions {
  readonly config: Config;
  readonly key: string;
  readonly proxies?: Proxies | undefined;
  readonly log: Logger;
  /** Whether to send a request to the service. */
  readonly ask: boolean;
  readonly warnings: readonly string[];
  readonly now: UnixMs;
}

export interface CheckResult {
  readonly text: string;
  /** False: a request was sent, and it failed or the key is not valid. */
  readonly isGood: boolean;
}

/** Works out what a configuration costs, by an answer of the service, the stored state or the configured plan. */
export async function check(options: CheckOptions): Promise<CheckResult> {
  const { config, key, proxies, log, ask, warnings, now } = options;
  const viewOptions = viewOptionsOf(config, log, now);
  const answer = ask ? await probe({ config, key }, proxies) : undefined;
  const probed = answer?.ledger.key.standing === 'unknown' ? undefined : answer?.ledger;
  const stored = storedState(config);
  const ledger = probed ?? (await stored.peek(LEDGER, Ledger));
  const entries = new Map<string, Entry>();
  for (const source of viewOptions.sources) {
    const entry = await stored.peek(sourceId(source), entrySchema(source));
    if (entry) entries.set(sourceId(source), entry);
  }
  stored.close();
  const limitsFrom = probed ? 'as the service just said' : originOf(ledger, config);
  const costs = describeCosts({ state: { ledger: ledger ?? emptyLedger(), entries }, viewOptions, limitsFrom, now });
  const lines = [
    'The configuration has no mistakes.',
    ...warnings,
    ...withoutEffect(config),
    ...(answer ? [answer.text] : []),
    costs,
  ];
  return { text: lines.join('\n'), isGood: answer?.isGood ?? true };
}

type Peek = <S extends z.ZodType>(name: string, schema: S) => Promise<z.output<S> | undefined>;

/** Reads what the daemon or a replica wrote. What cannot be read counts as unknown. */
function storedState({ state: { dir, redis } }: Config): { peek: Peek; close(): void } {
  if (!redis) return { peek: (name, schema) => peek(dir, name, schema), close: () => undefined };
  const state = new RedisState(new RedisLink(redis, systemClock), redis.prefix);
  return { peek: (name, schema) => state.peek(name, schema), close: () => state.close() };
}

function originOf(ledger: Ledger | undefined, { budget }: Config): string {
  if (ledger) return 'as last learned by the daemon';
  if (budget.plan !== 'auto') return 'of the configured plan';
  return 'not known yet, 1 request a second is assumed; check --probe asks the service. A trial has 1000 requests in 30 days';
}
