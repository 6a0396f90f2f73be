import type { AttesterSlashing, SlotRow } from '../../api/answers/slots.ts';
import { type Watch, watches } from '../../facts/watch.ts';
import { kindOf, slashedBy } from './evidence.ts';
import type { EpochRows, Kind, Proposal, RecentSlashing, Slashings, SlashingTotals } from './state.ts';

/** How many validators of a slashing to name. */
const MAX_NAMED = 20;
/** How many slashings the status page lists. */
const MAX_RECENT = 20;
/** The index of an unknown proposer (api-facts 8.1). */
const NOBODY = 2 ** 31 - 1;
/** How many validators have a series with the time of their newest missed proposal. */
const MAX_MISSED = 100;

const NOTHING: SlashingTotals = {
  slots: { proposed: 0, missed: 0, orphaned: 0 },
  watchedProposals: { proposed: 0, missed: 0, orphaned: 0 },
  syncDuties: { participated: 0, missed: 0 },
  attestations: 0,
  deposits: 0,
  voluntaryExits: 0,
  withdrawals: 0,
  transactions: 0,
  gasUsed: 0,
  attesterSlashings: { double_vote: 0, surround_vote: 0, unknown: 0 },
  slashedValidators: 0,
  proposerSlashings: 0,
  skippedEpochs: 0,
};

export const NO_SLASHINGS: Slashings = {
  reads: [],
  seen: [],
  slashed: [],
  proposerSlashed: [],
  slashedByStatus: [],
  namedSlots: [],
  stops: [],
  missedProposals: [],
  ownBlocks: { open: [], last: [], unread: 0, earned: [] },
  recent: [],
  totals: NOTHING,
};

/** A slashing with all its validators, ascending. */
export type ObservedSlashing = Omit<RecentSlashing, 'count'>;

/** A few validators of a slashing, which can have 131,072, the watched ones first. */
export function few(watch: Watch, validators: readonly number[]): number[] {
  const watched = validators.filter((validator) => watches(watch, validator));
  const others = validators.values().filter((validator) => !watches(watch, validator));
  return [...watched, ...others.take(MAX_NAMED)].slice(0, MAX_NAMED);
}

/** Counts the slashings in a canonical block, each identity once, whichever block had it first. */
export function countSlashings(
  state: Slashings,
  slot: number,
  records: ReadonlyMap<string, AttesterSlashing>,
): { state: Slashings; observed: ObservedSlashing[] } {
  const observed: ObservedSlashing[] = [];
  let next = state;
  for (const [identity, record] of records) {
    if (next.seen.some(([seen]) => seen === identity)) continue;
    const slashing = { slot, kind: kindOf(record), validators: slashedBy(record) };
    next = addSlashing(next, identity, slashing);
    observed.push(slashing);
  }
  return { state: next, observed };
}

/** Adds a slashing to the list on the status page. */
export function addRecent(state: Slashings, slashing: ObservedSlashing): Slashings {
  const recent = [...state.recent, { ...slashing, count: slashing.validators.length }];
  return { ...state, recent: recent.toSorted((a, b) => a.slot - b.slot).slice(-MAX_RECENT) };
}

function addSlashing(state: Slashings, identity: string, slashing: ObservedSlashing & { kind: Kind }): Slashings {
  const { slot, kind, validators } = slashing;
  const known = new Set(state.slashed.map((entry) => entry[0]));
  const fresh = validators.filter((validator) => !known.has(validator));
  const { totals } = state;
  return {
    ...addRecent(state, slashing),
    seen: [...state.seen, [identity, slot]],
    slashed: [...state.slashed, ...fresh.map((validator): [number, number] => [validator, slot])],
    lastAttesterSlashingSlot: Math.max(slot, state.lastAttesterSlashingSlot ?? 0),
    totals: {
      ...totals,
      attesterSlashings: { ...totals.attesterSlashings, [kind]: totals.attesterSlashings[kind] + 1 },
      slashedValidators: totals.slashedValidators + fresh.length,
    },
  };
}

/** Counts the next finalized epoch, one canonical row for each slot. A scheduled slot counts as missed. */
export function countEpoch(state: Slashings, epoch: number, rows: readonly SlotRow[]): Slashings {
  const blocks = rows.filter((row) => row.status === '1');
  const orphaned = rows.filter((row) => row.status === '3').length;
  const sum = (value: (row: SlotRow) => number | null | undefined): number =>
    blocks.reduce((total, row) => total + (value(row) ?? 0), 0);
  const { totals } = state;
  const proposerSlashingsOf = ({ slot, proposerslashingscount: announced }: SlotRow): number =>
    announced ?? state.proposerSlashed.filter(([, included]) => included === slot).length;
  const lastProposerSlashing = blocks.findLast((row) => proposerSlashingsOf(row) > 0)?.slot;
  return {
    ...state,
    tried: undefined,
    scannedEpoch: epoch,
    ...(lastProposerSlashing === undefined ? {} : { lastProposerSlashingSlot: lastProposerSlashing }),
    totals: {
      ...totals,
      slots: {
        proposed: totals.slots.proposed + blocks.length,
        orphaned: totals.slots.orphaned + orphaned,
        missed: totals.slots.missed + rows.length - blocks.length - orphaned,
      },
      attestations: totals.attestations + sum((row) => row.attestationscount),
      deposits: totals.deposits + sum((row) => row.depositscount),
      voluntaryExits: totals.voluntaryExits + sum((row) => row.voluntaryexitscount),
      withdrawals: totals.withdrawals + sum((row) => row.withdrawalcount),
      transactions: totals.transactions + sum((row) => row.exec_transactions_count),
      gasUsed: totals.gasUsed + sum((row) => row.exec_gas_used),
      proposerSlashings: totals.proposerSlashings + sum(proposerSlashingsOf),
    },
  };
}

/** Skips the finalized epochs up to `epoch`, and counts them as skipped. */
export function skipTo(state: Slashings, epoch: number): Slashings {
  const skipped = epoch - (state.scannedEpoch ?? epoch);
  if (skipped <= 0) return state;
  const totals = { ...state.totals, skippedEpochs: state.totals.skippedEpochs + skipped };
  return { ...state, tried: undefined, scannedEpoch: epoch, totals };
}

/**
 * The proposals of watched validators in a finalized epoch, by slot. With forks a slot can have several proposers, each with a proposal. If
 * one proposer has several rows, the canonical one decides.
 */
export function watchedProposals({ rows, allRows }: EpochRows, watch: Watch): Proposal[] {
  const isWatched = ({ proposer }: SlotRow): boolean =>
    proposer != null && proposer !== NOBODY && watches(watch, proposer);
  const byProposal = Map.groupBy(allRows.filter(isWatched), ({ slot, proposer }) => `${slot} ${proposer}`);
  const proposals = [...byProposal.values()].map((own): Proposal => {
    const { slot, proposer } = own[0] as SlotRow;
    const canonical = rows.find((row) => row.slot === slot);
    const status = canonical?.proposer === proposer ? statusOf(canonical as SlotRow) : statusOnFork(own);
    return { slot, validator: proposer as number, status };
  });
  return proposals.sort((a, b) => a.slot - b.slot);
}

function statusOf({ status }: SlotRow): Proposal['status'] {
  if (status === '1') return 'proposed';
  return status === '3' ? 'orphaned' : 'missed';
}

/** The service updates the status by slot (api-facts 5.1), so it may report a block of a fork as proposed. */
function statusOnFork(rows: readonly SlotRow[]): Proposal['status'] {
  return rows.some((row) => statusOf(row) !== 'missed') ? 'orphaned' : 'missed';
}

export function countProposals(state: Slashings, proposals: readonly Proposal[]): Slashings {
  if (proposals.length === 0) return state;
  const watchedProposals = { ...state.totals.watchedProposals };
  for (const { status } of proposals) watchedProposals[status] += 1;
  const missed = new Map(state.missedProposals);
  for (const { slot, validator, status } of proposals) {
    if (status !== 'proposed') missed.set(validator, Math.max(slot, missed.get(validator) ?? 0));
  }
  return {
    ...state,
    missedProposals: [...missed].sort(([, a], [, b]) => a - b).slice(-MAX_MISSED),
    totals: { ...state.totals, watchedProposals },
  };
}
