import { z } from 'zod';
import type { Api } from '../api/client.ts';
import { emptyLedger, type Ledger } from '../budget/ledger.ts';
import { planOf } from '../budget/plan-name.ts';
import { openClient } from '../exporter/client.ts';
import type { Settings } from '../exporter/settings.ts';
import type { Chain } from '../lib/chain.ts';
import { systemClock } from '../lib/clock.ts';
import type { Proxies } from '../lib/proxies.ts';

export interface ProbeAnswer {
  readonly ledger: Ledger;
  /** For the reader: the plan, and whether the key is valid. */
  readonly text: string;
  readonly isGood: boolean;
}

/** Makes one cheap request and reads the limits of the account from its headers. */
export async function probe(settings: Settings, proxies: Proxies | undefined): Promise<ProbeAnswer> {
  const { config } = settings;
  const client = openClient({ settings, proxies, clock: systemClock, ledger: emptyLedger() });
  const chain = config.chains[0]?.name ?? 'mainnet';
  let failure: string | undefined;
  try {
    await askCheaply(client.api, chain, new AbortController().signal);
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  } finally {
    await client.close();
  }
  const { ledger } = client.rateLimiter;
  const { standing, validHeader } = ledger.key;
  const isGood = failure === undefined && validHeader !== false;
  const key = standing === 'unknown' ? 'not known' : KEY_WORDS[standing];
  const plan = planOf(ledger.buckets[ledger.shared]) ?? 'not known, the answer named no limit';
  const lines = [`Key: ${key}. Plan: ${plan}.`, ...(failure === undefined ? [] : [`The request failed: ${failure}.`])];
  return { ledger, text: lines.join('\n'), isGood };
}

/** Makes a request whose answer matters only for its headers. */
export async function askCheaply(api: Api, chain: Chain, signal: AbortSignal): Promise<void> {
  const body = { sync_committee_period: { view: 'latest' }, chain };
  const path = '/api/v2/ethereum/sync-committee';
  await api.request({ endpoint: 'sync_committee', priority: 'sync_committee', path, body }, z.unknown(), signal);
}

const KEY_WORDS = {
  valid: 'valid',
  refused: 'refused',
  revoked: 'access is revoked (trial over or subscription cancelled)',
};
