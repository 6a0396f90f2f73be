import type { Chain } from '../lib/chain.ts';
import type { UnixMs } from '../lib/time.ts';
import { whole } from './body.ts';
import { Refusal } from './refusal.ts';
import {
  epochOf,
  epochRows,
  finalizedEpoch,
  headSlot,
  slotProposerSlashings,
  slotSlashings,
} from './slashings-data.ts';
import { committee } from './sync-committee.ts';
import type { Sandbox } from './world.ts';

const EPOCH_SLOTS = /^\/api\/v1\/epoch\/([^/]*)\/slots$/;
const SYNC_COMMITTEE = /^\/api\/v1\/sync_committee\/([^/]*)$/;
const SLASHINGS_OF_SLOT = /^\/api\/v1\/slot\/([^/]*)\/(attester|proposer)slashings$/;

/** The v1 endpoints of api-facts 4.1, 5.1, 5.2 and 8.1. Returns the body, undefined for a path that is none of them. */
export function v1Body(sandbox: Sandbox, chain: Chain, path: string, now: UnixMs): string | undefined {
  const epoch = EPOCH_SLOTS.exec(path)?.[1];
  if (epoch !== undefined) return epochSlots(sandbox, chain, epoch, now);
  const period = SYNC_COMMITTEE.exec(path)?.[1];
  if (period !== undefined) return committee(sandbox, chain, period, now);
  const [, slot, offence] = SLASHINGS_OF_SLOT.exec(path) ?? [];
  if (slot === undefined) return undefined;
  const read = offence === 'proposer' ? slotProposerSlashings : slotSlashings;
  return slashingsOfSlot(sandbox, chain, slot, now, read);
}

function epochSlots(sandbox: Sandbox, chain: Chain, selector: string, now: UnixMs): string {
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

/** Only a number: `latest` is documented and refused, a future slot has no slashings (api-facts 5.2). */
function slashingsOfSlot(
  sandbox: Sandbox,
  chain: Chain,
  selector: string,
  now: UnixMs,
  read: typeof slotSlashings,
): string {
  const slot = whole(selector, 'invalid slot number provided');
  const data = read(sandbox.chains[chain], slot, headSlot(chain, now));
  return JSON.stringify({ status: 'OK', data });
}
