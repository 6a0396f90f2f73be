import { z } from 'zod';
import { type ApiOptions, createApi } from './api/client.ts';
import { createTransport } from './api/transport.ts';
import { isFiller, type Terms } from './budget/bucket.ts';
import { emptyLedger, type Ledger } from './budget/ledger.ts';
import { Pacer } from './budget/pacer.ts';
import type { Config } from './config/config.ts';
import { systemClock } from './lib/clock.ts';

export interface ProbeAnswer {
  readonly ledger: Ledger;
  /** Plan and validity of the key, for the reader. */
  readonly text: string;
  readonly isGood: boolean;
}

/** Makes one cheap request and reads from its headers what the account may do. */
export async function probe(config: Config, apiOptions: ApiOptions, terms: Terms): Promise<ProbeAnswer> {
  const clock = systemClock;
  const transport = createTransport({ timeoutMs: config.api.timeoutMs });
  const pacer = new Pacer(terms, { clock, ledger: emptyLedger() });
  const nothing = (): void => undefined;
  const observer = { requested: nothing, failed: nothing, took: nothing, invalidRecords: nothing };
  const api = createApi(apiOptions, { budget: pacer, transport: transport.send, observer, clock, random: Math.random });
  const chain = config.chains[0]?.name ?? 'mainnet';
  let failure: string | undefined;
  try {
    const body = { sync_committee_period: { view: 'latest' }, chain };
    const path = '/api/v2/ethereum/sync-committee';
    const stop = new AbortController().signal;
    await api.request({ endpoint: 'sync_committee', priority: 'sync_committee', path, body }, z.unknown(), stop);
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  } finally {
    await transport.close();
  }
  const { ledger } = pacer;
  const { standing, validHeader } = ledger.key;
  const isGood = failure === undefined && validHeader !== false;
  const key = standing === 'unknown' ? 'not known' : KEY_WORDS[standing];
  const lines = [
    `Key: ${key}. Plan: ${planOf(ledger)}.`,
    ...(failure === undefined ? [] : [`The request failed: ${failure}.`]),
  ];
  return { ledger, text: lines.join('\n'), isGood };
}

const KEY_WORDS = {
  valid: 'valid',
  refused: 'refused',
  revoked: 'access is revoked (trial over or subscription cancelled)',
};

/** The plan that has such limits (spec 8); the service does not name it. */
function planOf(ledger: Ledger): string {
  const bucket = ledger.buckets[ledger.shared];
  const second = bucket?.limits.second;
  if (!bucket || second === undefined) return 'not known, the answer named no limit';
  const month = isFiller(bucket, 'month') ? undefined : bucket.limits.month;
  if (month !== undefined) return `${second} per second and ${month} per month, as on a trial or a legacy plan`;
  const names: Readonly<Record<number, string>> = { 1: 'Hobbyist', 2: 'Business', 5: 'Scale' };
  return `${second} per second without a quota, as on ${names[second] ?? 'an agreed plan'}`;
}
