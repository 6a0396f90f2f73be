import type { BlockRewardsAnswer } from '../../api/answers/blocks.ts';
import { requestTo } from '../../api/endpoints.ts';
import { SECONDS_PER_SLOT, slotTime } from '../../facts/chain.ts';
import { watchedGroupOf } from '../../facts/groups.ts';
import { watchedCount, watches } from '../../facts/watch.ts';
import { MS_PER_DAY, SECONDS_PER_DAY } from '../../toolkit/lib/duration.ts';
import { attempt, GIVE_UP_AFTER_MS, isRequestSpecific } from '../answers.ts';
import type { Read } from '../read.ts';
import { FIRING_MS } from '../slashed.ts';
import type { SlashingsOptions } from './options.ts';
import { type Context, implausible, runOf, type Step } from './pass.ts';
import type { EpochRows, OpenBlock, OwnBlock, OwnBlocks, Proposal, Slashings } from './state.ts';

/** How many blocks to check for their recipients. */
const MAX_KEPT = 100;
/** Blocks wait while the service refuses this part. */
const MAX_OPEN = 1_000;
/** At one request a second, so many do not delay the next head pass. */
const MAX_PER_RUN = 12;
/** About as many validators share the proposals of a chain. */
const PROPOSERS = 1_000_000;

/** What the blocks of watched validators earned on the execution layer: one request for each. */
export function ownBlocksRead(options: SlashingsOptions): Read<Slashings> {
  return {
    name: 'blocks',
    endpoints: ['block_rewards'],
    everyMs: options.intervalMs,
    price: ({ intervalMs }) => {
      const blocks = (watchedCount(options.watch) / PROPOSERS) * (SECONDS_PER_DAY / SECONDS_PER_SLOT);
      return Math.min(blocks, MS_PER_DAY / intervalMs);
    },
    due({ ownBlocks: { open } }, _, { now }, tick) {
      if (open.length === 0) return Number.POSITIVE_INFINITY;
      return open.some(({ triedMs }) => triedMs === undefined) ? now : tick;
    },
    run: runOf(options, blocksPass),
  };
}

/** Adds the canonical blocks of watched validators in a counted epoch, without blocks that lack a payload and earn nothing. */
export function withOwnBlocks(state: Slashings, { rows }: EpochRows, proposals: readonly Proposal[]): Slashings {
  const { ownBlocks } = state;
  const known = new Set([...ownBlocks.open, ...ownBlocks.last].map(({ slot }) => slot));
  const numberOf = (slot: number): number => rows.find((row) => row.slot === slot)?.exec_block_number ?? 0;
  const found = proposals
    .filter(({ slot, status }) => status === 'proposed' && !known.has(slot) && numberOf(slot) > 0)
    .map(({ slot, validator }): OpenBlock => ({ slot, validator, number: numberOf(slot) }));
  const open = [...ownBlocks.open, ...found];
  const lost = Math.max(0, open.length - MAX_OPEN);
  return { ...state, ownBlocks: { ...ownBlocks, open: open.slice(lost), unread: ownBlocks.unread + lost } };
}

/** Reads the oldest open blocks. A block that fails by itself for an hour counts as unread. */
async function blocksPass(context: Context, previous: Slashings): Promise<Step> {
  const { options, api, events, ownMs } = context;
  let { ownBlocks } = previous;
  let first: Error | undefined;
  for (const block of previous.ownBlocks.open.slice(0, MAX_PER_RUN)) {
    const { slot, validator, triedMs } = block;
    const data = await attempt(context, () => readBlock(context, block));
    if (data instanceof Error) {
      first ??= data;
      // An outage, or a refusal of all requests, gives up no block.
      if (!isRequestSpecific(data)) break;
      const tried = { ...block, triedMs: triedMs === undefined ? 0 : triedMs + ownMs };
      const isOver = tried.triedMs >= GIVE_UP_AFTER_MS;
      const open = ownBlocks.open.flatMap((one) => (one !== block ? [one] : isOver ? [] : [tried]));
      ownBlocks = { ...ownBlocks, open, unread: ownBlocks.unread + (isOver ? 1 : 0) };
      if (isOver) events.push({ type: 'block_unread', slot, validator, err: data.message });
      continue;
    }
    const paid = paidIn(block, data);
    ownBlocks = withPaid(options, { ...ownBlocks, open: ownBlocks.open.filter((one) => one !== block) }, paid);
    if (isUnexpected(options, paid) && isRecent(options, paid, api.now()))
      events.push({ type: 'unexpected_fee_recipient', slot, validator, recipient: paid.recipient });
  }
  return { value: { ...previous, ownBlocks }, failure: first };
}

async function readBlock(
  { options: { chain }, api, signal }: Context,
  { slot, number }: OpenBlock,
): Promise<BlockRewardsAnswer['data']> {
  const { data } = await api.request(requestTo('block_rewards', { chain, number }), signal);
  const { slot: answered = slot } = data.consensus_reference ?? {};
  if (answered !== null && answered !== slot)
    throw implausible(`block ${number} is in slot ${answered}, expected slot ${slot}`, 'block_rewards');
  return data;
}

/** Pure. What the builder paid, or the fees if there was none: never their sum. */
function paidIn({ slot, validator }: OpenBlock, data: BlockRewardsAnswer['data']): OwnBlock {
  const { total_reward: total, priority_fees: fees, mev } = data;
  const payment = mev === undefined ? total : (mev ?? fees);
  const wei = payment?.amount ?? total?.amount;
  return {
    slot,
    validator,
    kind: mev ? 'mev' : 'fees',
    // A counter never falls.
    wei: wei?.startsWith('-') ? '0' : (wei ?? null),
    recipient: payment?.recipient?.address ?? total?.recipient?.address ?? null,
  };
}

function withPaid({ groups }: SlashingsOptions, ownBlocks: OwnBlocks, paid: OwnBlock): OwnBlocks {
  const last = [...ownBlocks.last, paid].sort((a, b) => a.slot - b.slot).slice(-MAX_KEPT);
  const { kind, wei } = paid;
  if (wei === null) return { ...ownBlocks, last, unread: ownBlocks.unread + 1 };
  const { group = '' } = watchedGroupOf(groups, paid.validator) ?? {};
  const before = earnedOf(ownBlocks, group);
  const own = { ...before, [kind]: String(BigInt(before[kind]) + BigInt(wei)) };
  return { ...ownBlocks, last, earned: [...ownBlocks.earned.filter((one) => one.group !== group), own] };
}

/** What the blocks of a group earned since the first start, wei. `''` for no group. */
export function earnedOf({ earned }: OwnBlocks, group: string): OwnBlocks['earned'][number] {
  return earned.find((one) => one.group === group) ?? { group, mev: '0', fees: '0' };
}

/** The last blocks of the currently watched validators, by slot. */
export function lastBlocks({ watch }: SlashingsOptions, { ownBlocks }: Slashings): OwnBlock[] {
  return ownBlocks.last.filter(({ validator }) => watches(watch, validator));
}

/** Whether a block paid an address outside the current list. Never without a list. */
export function isUnexpected({ feeRecipients }: SlashingsOptions, { recipient }: OwnBlock): boolean {
  return feeRecipients.length > 0 && recipient !== null && !feeRecipients.includes(recipient);
}

/** Whether the alert fires for a block of this time. */
export function isRecent({ chain }: SlashingsOptions, { slot }: OwnBlock, now: number): boolean {
  return now - slotTime(chain, slot) * 1000 < FIRING_MS;
}
