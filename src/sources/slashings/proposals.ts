import { type Watch, watches } from '../../lib/watch.ts';
import type { EpochRows } from './read.ts';
import type { Proposal, Slashings, SlotRow } from './schema.ts';

/** The service reports this index if the proposer is unknown (api-facts 8.1). */
const NOBODY = 2 ** 31 - 1;
/** How many proposals the status page lists. */
const MAX_RECENT = 10;
/** How many validators have a series with the time of their newest missed proposal. */
const MAX_MISSED = 100;

/**
 * The proposals of watched validators in a finalized epoch, by slot. Forks can give a slot several proposers: each has
 * a proposal of its own. If one proposer has several rows, the canonical one decides.
 */
export function watchedProposals({ rows, allRows }: EpochRows, watch: Watch): Proposal[] {
  const isWatched = ({ proposer }: SlotRow): boolean =>
    proposer !== undefined && proposer !== NOBODY && watches(watch, proposer);
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

/** The service updates the status by slot (api-facts 5.1), so a block of a fork may be reported as proposed. */
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
    recentProposals: [...state.recentProposals, ...proposals].slice(-MAX_RECENT),
    missedProposals: [...missed].sort(([, a], [, b]) => a - b).slice(-MAX_MISSED),
    totals: { ...state.totals, watchedProposals },
  };
}
