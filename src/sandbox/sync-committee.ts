import type { Chain } from '../lib/chain.ts';
import { chainName, type Fields, fields, natural } from './body.ts';
import { epochsRange } from './chain-range.ts';
import { Refusal } from './refusal.ts';
import { epochOf, finalizedEpoch, headSlot } from './slashings-data.ts';
import { periodAt, periodOf } from './sync-committee-data.ts';
import type { Sandbox } from './world.ts';

/** POST /api/v2/ethereum/sync-committee (api-facts 4). */
export function syncCommittee(_: Sandbox, body: Fields, now: number): string {
  const chain = chainName(body['chain']);
  const head = headSlot(chain, now);
  const latest = periodAt(epochOf(head));
  const number = selected(fields(body['sync_committee_period']), latest);
  const period = known(chain, number, latest);
  const isFinal = period.lastEpoch <= finalizedEpoch(head);
  return JSON.stringify({
    data: { period: number, finality: isFinal ? 'finalized' : 'not_finalized' },
    range: epochsRange(chain, period.firstEpoch, period.lastEpoch),
  });
}

function selected({ view, number }: Fields, latest: number): number {
  if (number !== undefined && view === undefined) return natural(number);
  if (view === 'latest') return latest;
  if (view === 'next') return latest + 1;
  throw new Refusal(400);
}

/** A committee is known one period ahead. */
function known(chain: Chain, number: number, latest: number): NonNullable<ReturnType<typeof periodOf>> {
  const period = number > latest + 1 ? undefined : periodOf(chain, number);
  if (!period) throw new Refusal(404);
  return period;
}
