import { type Chain, EPOCHS_PER_DAY, SLOTS_PER_EPOCH } from '../facts/chain.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import type { AggregateBody, NetworkPerformanceBody } from './body.ts';
import { epochsRange, kindOf, participationAt, proposerOf } from './chain-world.ts';
import { epochAt, existing, silentEpochs } from './validators.ts';
import type { Sandbox } from './world.ts';

/** How many of the included votes are correct, and what one earns, in gwei as in published samples (api-facts 11.1). */
const VOTES = {
  head: { correct: 0.985, gwei: 2_408, costs: false },
  source: { correct: 0.999, gwei: 2_437, costs: true },
  target: { correct: 0.997, gwei: 4_526, costs: true },
} as const;
/** What a block earns, in gwei. */
const BLOCK = { attestations: 43_946_801, signatures: 1_617_176, execution: 35_087_332 } as const;
/** How many of the attestations of a whole chain are included on a usual day. */
const USUALLY_INCLUDED = 0.9986;
const ATTESTERS = 960_000;
const SLOTS_PER_DAY = EPOCHS_PER_DAY * SLOTS_PER_EPOCH;

/** Attestations and blocks in a day. */
type Day = Readonly<Record<'assigned' | 'included' | 'blocks' | 'proposed', number>>;

/** POST /api/v2/ethereum/validators/performance-aggregate (api-facts 10.2). Every evaluation window is that of a day. */
export function performance(sandbox: Sandbox, asked: AggregateBody, now: UnixMs): string {
  return performanceAnswer(asked.chain, dayOf(sandbox, asked, now), now);
}

/** POST /api/v2/ethereum/performance-aggregate (api-facts 11.2): all validators of the chain. */
export function networkPerformance({ chains }: Sandbox, { chain }: NetworkPerformanceBody, now: UnixMs): string {
  const { slot } = rangeOf(chain, now);
  let included = 0;
  for (let at = slot.start; at < slot.end; at += SLOTS_PER_EPOCH)
    included += Math.round(ATTESTERS * Math.min(participationAt(chains[chain], at), USUALLY_INCLUDED));
  const blocks = { blocks: SLOTS_PER_DAY, proposed: Math.round(SLOTS_PER_DAY * 0.99) };
  return performanceAnswer(chain, { assigned: ATTESTERS * EPOCHS_PER_DAY, included, ...blocks }, now);
}

function performanceAnswer(chain: Chain, { assigned, included, blocks, proposed }: Day, now: UnixMs): string {
  const score = included / assigned;
  const proposal = blocks === 0 ? null : proposed / blocks;
  const votes = Object.entries(VOTES).map(([vote, { correct }]) => [`correct_${vote}`, Math.floor(included * correct)]);
  const attestation = {
    included,
    assigned,
    missed: assigned - included,
    ...Object.fromEntries(votes),
    avg_inclusion_delay: included === 0 ? null : 0.012,
  };
  const data = {
    beaconscore: { total: score, attestation: score, proposal, sync_committee: null },
    duties: {
      attestation,
      sync_committee: { successful: 0, assigned: 0, missed: 0 },
      proposal: { successful: proposed, assigned: blocks, missed: blocks - proposed, included_slashings: 0 },
    },
    finality: 'finalized',
  };
  return JSON.stringify({ data, range: rangeOf(chain, now) });
}

/**
 * POST /api/v2/ethereum/validators/rewards-aggregate (api-facts 11.1). A wrong or missed vote for source or target costs
 * what a correct one earns.
 */
export function rewards(sandbox: Sandbox, asked: AggregateBody, now: UnixMs): string {
  const { assigned, included, blocks, proposed } = dayOf(sandbox, asked, now);
  const partOf = ({ correct, gwei, costs }: (typeof VOTES)[keyof typeof VOTES]) => {
    const reward = gwei * Math.floor(included * correct);
    const missed_reward = gwei * assigned - reward;
    const penalty = costs ? missed_reward : 0;
    return { total: reward - penalty, reward, penalty, missed_reward };
  };
  const votes = { head: partOf(VOTES.head), source: partOf(VOTES.source), target: partOf(VOTES.target) };
  const sum = (what: keyof typeof votes.head): number =>
    Object.values(votes).reduce((total, part) => total + part[what], 0);
  const { attestations, signatures, execution } = BLOCK;
  const [consensus, missed] = [attestations + signatures, blocks - proposed];
  const ofBlocks = proposed * (consensus + execution);
  const gwei = {
    total: sum('total') + ofBlocks,
    total_reward: sum('reward') + ofBlocks,
    total_penalty: sum('penalty'),
    total_missed: sum('missed_reward') + missed * (consensus + execution),
    attestation: { total: sum('total'), ...votes, inactivity_leak_penalty: 0, inclusion_delay: null },
    sync_committee: { total: 0, reward: 0, penalty: 0, missed_reward: 0 },
    proposal: {
      total: ofBlocks,
      execution_layer_reward: proposed * execution,
      attestation_inclusion_reward: proposed * attestations,
      sync_inclusion_reward: proposed * signatures,
      slashing_inclusion_reward: 0,
      missed_cl_reward: missed * consensus,
      missed_el_reward: missed * execution,
    },
    finality: 'finalized',
  };
  const wei = (_: string, value: unknown) => (typeof value === 'number' ? String(BigInt(value) * 10n ** 9n) : value);
  return `{"data":${JSON.stringify(gwei, wei)},"range":${JSON.stringify(rangeOf(asked.chain, now))}}`;
}

function dayOf(sandbox: Sandbox, { chain, validator }: AggregateBody, now: UnixMs): Day {
  const world = sandbox.chains[chain];
  const all = existing(sandbox, validator.validator_identifiers);
  const { slot, epoch } = rangeOf(chain, now);
  const assigned = all.length * EPOCHS_PER_DAY;
  const missed = all.reduce((sum, index) => sum + silentEpochs(world, index, epoch.end, EPOCHS_PER_DAY), 0);
  const slots = Array.from({ length: SLOTS_PER_DAY }, (_, i) => slot.start + i);
  const own = slots.filter((at) => all.includes(proposerOf(world, at)));
  const proposed = own.filter((at) => kindOf(world, at) === 'proposed').length;
  return { assigned, included: assigned - missed, blocks: own.length, proposed };
}

/** The finalized epochs of the last day. */
function rangeOf(chain: Chain, now: UnixMs) {
  const last = epochAt(chain, now) - 2;
  return epochsRange(chain, last + 1 - EPOCHS_PER_DAY, last);
}
