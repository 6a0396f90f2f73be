import { type Chain, validatorsOf } from './chain.ts';

/** Value by name without prefix and labels without chain, such as `slots_total missed`. */
type Counters = Readonly<Record<string, number>>;

/** What the exporter must count from epoch `first` on, once all is final. `seen`: the slashings that it has read. */
export function truthOf(
  chain: Chain,
  first: number,
  seen: ReadonlySet<number>,
  isWatched: (validator: number) => boolean = () => false,
): Counters {
  const epochs = Array.from({ length: chain.finalized - first + 1 }, (_, i) => first + i);
  return truthOfEpochs(chain, epochs, seen, isWatched);
}

/** The same where only these epochs were read once they were final; the exporter skipped those between them. */
export function truthOfEpochs(
  chain: Chain,
  epochs: readonly number[],
  seen: ReadonlySet<number>,
  isWatched: (validator: number) => boolean = () => false,
): Counters {
  const final = epochs.flatMap((epoch) => [...chain.canonical(epoch).values()].flat());
  const counted = [...new Set([...seen, ...final])];
  const ofKind = (kind: number): number => counted.filter((n) => n % 3 === kind).length;
  const blocks = epochs.flatMap((epoch) => chain.canonicalRows(epoch));
  const total = (field: string): number => blocks.reduce((sum, row) => sum + Number(row[field]), 0);
  const slots = epochs.map((epoch) => chain.count(epoch, epoch));
  const slotsThat = (outcome: 'proposed' | 'missed' | 'orphaned'): number =>
    slots.reduce((sum, count) => sum + count[outcome], 0);
  const duties = epochs.flatMap((epoch) => chain.duties(epoch, epoch)).filter(({ proposer }) => isWatched(proposer));
  const ending = (outcome: string): number => duties.filter((duty) => duty.outcome === outcome).length;
  return {
    scanned_epoch: chain.finalized,
    skipped_epochs_total: chain.finalized + 1 - (epochs[0] ?? chain.finalized + 1) - epochs.length,
    'slots_total proposed': slotsThat('proposed'),
    'slots_total missed': slotsThat('missed'),
    'slots_total orphaned': slotsThat('orphaned'),
    'watched_proposals_total proposed': ending('proposed'),
    'watched_proposals_total missed': ending('missed'),
    'watched_proposals_total orphaned': ending('orphaned'),
    block_attestations_total: total('attestationscount'),
    block_deposits_total: total('depositscount'),
    block_voluntary_exits_total: total('voluntaryexitscount'),
    block_withdrawals_total: total('withdrawalcount'),
    block_transactions_total: total('exec_transactions_count'),
    block_gas_used_total: total('exec_gas_used'),
    proposer_slashings_total: total('proposerslashingscount'),
    'attester_slashings_total double_vote': ofKind(0),
    'attester_slashings_total surround_vote': ofKind(1),
    'attester_slashings_total unknown': ofKind(2),
    attester_slashed_validators_total: new Set(counted.flatMap(validatorsOf)).size,
  };
}
