import type { Chain } from '../facts/chain.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { whole } from './body.ts';
import { Refusal } from './refusal.ts';
import { epochOf, epochRows, finalizedEpoch, headSlot, type slotSlashings } from './slashings-data.ts';
import type { Sandbox } from './world.ts';

/** GET /api/v1/epoch/{epoch}/slots (api-facts 5.1). */
export function epochSlots(sandbox: Sandbox, chain: Chain, selector: string, now: UnixMs): string {
  const head = headSlot(chain, now);
  const epoch = epochNumber(selector, head);
  if (epoch > epochOf(head)) {
    throw new Refusal(400, `epoch is in the future. The latest epoch is ${epochOf(head)}`);
  }
  return JSON.stringify({ status: 'OK', data: epochRows(sandbox.chains[chain], epoch, head) });
}

function epochNumber(selector: string, head: number): number {
  if (selector === 'latest') return epochOf(head);
  if (selector === 'finalized') return finalizedEpoch(head);
  return whole(selector, 'invalid epoch parameter');
}

/**
 * GET /api/v1/slot/{slot}/attesterslashings or proposerslashings. Only a number: `latest` is documented and refused, a
 * future slot has no slashings (api-facts 5.2).
 */
export function slashingsOfSlot(read: typeof slotSlashings) {
  return ({ chains }: Sandbox, chain: Chain, selector: string, now: UnixMs): string => {
    const slot = whole(selector, 'invalid slot number provided');
    return JSON.stringify({ status: 'OK', data: read(chains[chain], slot, headSlot(chain, now)) });
  };
}
