import { CHAINS, type Chain, slotTime } from '../../facts/chain.ts';
import { type Watch, watches } from '../../facts/watch.ts';
import type { Family, MetricType, Sample } from '../../toolkit/exposition/family.ts';
import { CLOCK_AHEAD_MS } from '../../toolkit/lib/clock.ts';
import { MS_PER_MINUTE } from '../../toolkit/lib/duration.ts';
import type { UnixMs, UnixSeconds } from '../../toolkit/lib/time.ts';
import { type Slashed, slashedFamilies } from '../slashed.ts';
import type { Timing } from '../source.ts';
import type { SlashingsOptions } from './options.ts';
import { type Head, KINDS, SLOT_STATUSES, type Slashings } from './schema.ts';

type SlashingValue = number | null | undefined;

const MIN_HEAD_STALE_MS = 10 * MS_PER_MINUTE;
const HEAD = 'of the newest canonical block of the latest epoch; polled, and withdrawn when stale';
const FINAL = 'in canonical blocks of finalized epochs; each epoch counts once';

const HEAD_FAMILIES: readonly (readonly [name: string, help: string, value: (head: Head) => SlashingValue])[] = [
  ['slot', `Slot ${HEAD}`, (head) => head.slot],
  ['epoch', `Epoch ${HEAD}`, (head) => head.epoch],
  [
    'sync_participation_ratio',
    `Sync aggregate participation ${HEAD} (syncaggregate_participation)`,
    (head) => head.participation,
  ],
  ['base_fee_wei', `Base fee per gas ${HEAD} (exec_base_fee_per_gas)`, (head) => head.baseFeeWei],
  ['gas_used', `Gas used ${HEAD} (exec_gas_used)`, (head) => head.gasUsed],
  ['gas_limit', `Gas limit ${HEAD} (exec_gas_limit)`, (head) => head.gasLimit],
  ['transactions', `Transactions ${HEAD} (exec_transactions_count)`, (head) => head.transactions],
  ['execution_block', `Execution block number ${HEAD} (exec_block_number)`, (head) => head.executionBlock],
];

type DescribeSlashings = (
  state: Slashings,
) => readonly (readonly [labels: Record<string, string>, value: SlashingValue])[];

function one(value: (state: Slashings) => SlashingValue): DescribeSlashings {
  return (state) => [[{}, value(state)]];
}

/** Slashings, counters and finality, which stay valid until the next poll. */
const FAMILIES: readonly (readonly [name: string, type: MetricType, help: string, describe: DescribeSlashings])[] = [
  [
    'finalized_epoch',
    'gauge',
    'Newest finalized epoch as last reported by the API; contradictory responses are ignored',
    one((state) => state.finalizedEpoch),
  ],
  [
    'scanned_epoch',
    'gauge',
    'Newest finalized epoch that has been counted; beaconchain_finalized_epoch minus this value is the lag',
    one((state) => state.scannedEpoch),
  ],
  [
    'skipped_epochs_total',
    'counter',
    'Finalized epochs that were skipped and not counted: older than slashings.catch_up, unreadable for an hour, or more than the budget allows',
    one(({ totals }) => totals.skippedEpochs),
  ],
  [
    'slots_total',
    'counter',
    'Slots of finalized epochs by status; each slot counts once',
    ({ totals }) => SLOT_STATUSES.map((status) => [{ status }, totals.slots[status]]),
  ],
  [
    'block_attestations_total',
    'counter',
    `Attestations ${FINAL} (attestationscount)`,
    one(({ totals }) => totals.attestations),
  ],
  [
    'block_deposits_total',
    'counter',
    `Deposits of the old deposit list ${FINAL}. Since Electra deposits are requested on the execution layer and do not count (depositscount)`,
    one(({ totals }) => totals.deposits),
  ],
  [
    'block_voluntary_exits_total',
    'counter',
    `Voluntary exits ${FINAL}. Exits requested on the execution layer do not count (voluntaryexitscount)`,
    one(({ totals }) => totals.voluntaryExits),
  ],
  [
    'block_withdrawals_total',
    'counter',
    `Withdrawals ${FINAL} (withdrawalcount)`,
    one(({ totals }) => totals.withdrawals),
  ],
  [
    'block_transactions_total',
    'counter',
    `Execution transactions ${FINAL} (exec_transactions_count)`,
    one(({ totals }) => totals.transactions),
  ],
  ['block_gas_used_total', 'counter', `Gas used ${FINAL} (exec_gas_used)`, one(({ totals }) => totals.gasUsed)],
  [
    'attester_slashings_total',
    'counter',
    'Attester slashings by kind; each counts once, when first seen in a canonical block, and still counts after a reorganisation',
    ({ totals }) => KINDS.map((kind) => [{ kind }, totals.attesterSlashings[kind]]),
  ],
  [
    'attester_slashed_validators_total',
    'counter',
    'Distinct validators in both index lists of an attester slashing; an upper bound, because some may already have been slashed',
    one(({ totals }) => totals.slashedValidators),
  ],
  [
    'proposer_slashings_total',
    'counter',
    `Proposer slashings ${FINAL}. Their validators are known only with validators.proposer_slashings (proposerslashingscount)`,
    one(({ totals }) => totals.proposerSlashings),
  ],
];

/** Every family of the source for one chain, with the samples that are to be shown at `timing.now`. */
export function slashingFamilies(options: SlashingsOptions, state: Slashings, timing: Timing): Family[] {
  const { chain } = options;
  const head = shownHead(state, timing);
  return [
    gauge(
      'genesis_timestamp_seconds',
      'Genesis time of the chain, a constant; the slot at a given time is (time - genesis) / 12',
      sample(chain, CHAINS[chain].genesis),
    ),
    ...HEAD_FAMILIES.map(([name, help, value]) => gauge(`head_${name}`, help, head ? sample(chain, value(head)) : [])),
    ...FAMILIES.map(
      ([name, type, help, describe]): Family => ({
        name: `beaconchain_${name}`,
        type,
        help: `${help}.`,
        samples: describe(state).flatMap(([labels, value]) => sample(chain, value, labels)),
      }),
    ),
    gauge(
      'last_attester_slashing_timestamp_seconds',
      'Time of the slot of the newest block that included an attester slashing; absent until one is seen',
      sample(chain, timeOf(chain, state.lastAttesterSlashingSlot)),
    ),
    gauge(
      'last_proposer_slashing_timestamp_seconds',
      'Time of the slot of the newest finalized block that included a proposer slashing; absent until one is seen',
      sample(chain, timeOf(chain, state.lastProposerSlashingSlot)),
    ),
    ...watchedFamilies(options, state),
  ];
}

/** beaconchain_watched_*: the validators that the operator names. */
function watchedFamilies({ chain, watch, seatsOf }: SlashingsOptions, state: Slashings): Family[] {
  if (watch.length === 0) return [];
  const missed = state.missedProposals.filter(([validator]) => watches(watch, validator));
  return [
    ...slashedFamilies(chain, watch, watchedSlashed(watch, state)),
    {
      name: 'beaconchain_watched_proposals_total',
      type: 'counter',
      help: 'Proposals of watched validators in finalized epochs by outcome; each counts once (proposer, status).',
      samples: SLOT_STATUSES.flatMap((status) => sample(chain, state.totals.watchedProposals[status], { status })),
    },
    {
      name: 'beaconchain_watched_sync_committee_duties_total',
      type: 'counter',
      help: 'Seats of watched validators in the canonical blocks of finalized epochs; each seat and block counts once (syncaggregate_bits).',
      samples: seatsOf
        ? (['participated', 'missed'] as const).flatMap((status) =>
            sample(chain, state.totals.syncDuties[status], { status }),
          )
        : [],
    },
    gauge(
      'watched_validator_missed_proposal_timestamp_seconds',
      'Time of the slot of the newest missed or orphaned proposal of a watched validator. Limited to the 100 validators per chain with the newest ones',
      missed.flatMap(([validator, slot]) => sample(chain, timeOf(chain, slot), { validator: String(validator) })),
    ),
  ];
}

function gauge(name: string, help: string, samples: Sample[]): Family {
  return { name: `beaconchain_${name}`, type: 'gauge', help: `${help}.`, samples };
}

/** No sample where the value is not known. */
function sample(chain: Chain, value: SlashingValue, labels: Record<string, string> = {}): Sample[] {
  return value == null ? [] : [{ labels: { chain, ...labels }, value }];
}

function timeOf(chain: Chain, slot: number | undefined): UnixSeconds | undefined {
  return slot === undefined ? undefined : slotTime(chain, slot);
}

/** The watched validators that were slashed. The first slot with evidence wins over what their status says. */
export function watchedSlashed(watch: Watch, { slashed, proposerSlashed, slashedByStatus }: Slashings): Slashed[] {
  const isWatched = (validator: number): boolean => watches(watch, validator);
  const reported = slashedByStatus.filter(({ validator }) => isWatched(validator));
  const all = new Map(reported.map((one) => [one.validator, one]));
  const evidence = [...slashed, ...proposerSlashed].filter(([validator]) => isWatched(validator));
  // The last one first, so that the first one stays.
  for (const [validator, slot] of evidence.sort(([, a], [, b]) => b - a))
    all.set(validator, { ...all.get(validator), validator, slot });
  return [...all.values()].sort((a, b) => a.validator - b.validator);
}

/** The head; undefined if it is stale. */
export function shownHead(state: Slashings, timing: Timing): Head | undefined {
  // A head with a read time in the future was read before the clock was set back, so its age is unknown.
  const isFresh = timing.now < headStaleAt(state, timing) && timing.now >= headBackAt(state);
  return isFresh ? state.head : undefined;
}

export function nextSlashingsChange(state: Slashings, timing: Timing): UnixMs {
  const changes = [headBackAt(state), headStaleAt(state, timing)].filter((at) => at > timing.now);
  return state.head ? Math.min(...changes) : Number.POSITIVE_INFINITY;
}

/** When a head with a read time in the future is shown again. */
function headBackAt({ headReadAt = 0 }: Slashings): UnixMs {
  return headReadAt - CLOCK_AHEAD_MS;
}

function headStaleAt({ headReadAt = 0 }: Slashings, timing: Timing): UnixMs {
  return headReadAt + Math.max(MIN_HEAD_STALE_MS, 2 * timing.intervalMs);
}
