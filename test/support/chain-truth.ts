import type { Exchange } from '../system/end-to-end/chain-server.ts';
import { seriesOf } from './exposition-text.ts';
import { type LivelyChain, validatorsOf } from './lively-chain.ts';

/**
 * The exchanges of the polls up to the one that began at `lastPoll` (Unix ms). A poll begins with `latest`, or reads only
 * what is final and counts anyway.
 */
export function exchangesUpTo(exchanges: readonly Exchange[], lastPoll: number): readonly Exchange[] {
  const began = exchanges.findIndex(({ at }) => at >= lastPoll);
  const next = exchanges.findIndex(({ what }, i) => i > began && what === 'latest');
  return began === -1 || next === -1 ? exchanges : exchanges.slice(0, next);
}

/** The slashings of blocks that a poll was shown as canonical, and of which it got the records. */
export function slashingsIn(exchanges: readonly Exchange[]): Set<number> {
  const read = new Set<number>();
  let shown = new Map<string, readonly number[]>();
  for (const { what, canonical, sent } of exchanges) {
    if (what === 'latest') shown = new Map();
    for (const [root, slashings] of canonical) shown.set(root, slashings);
    for (const root of sent) for (const n of shown.get(root) ?? []) read.add(n);
  }
  return read;
}

export interface Truth {
  /** Value by name without prefix and values of the labels without the chain: `slots_total missed`. */
  readonly counters: Readonly<Record<string, number>>;
  /** Every slashed validator. */
  readonly slashed: readonly number[];
}

/** What must be counted of epochs from `first` on, when all is final and these slashings were seen on the way. */
export function truthOf(chain: LivelyChain, first: number, seen: ReadonlySet<number>): Truth {
  const epochs = Array.from({ length: chain.finalized - first + 1 }, (_, i) => first + i);
  const final = epochs.flatMap((epoch) => [...chain.canonical(epoch).values()].flat());
  const counted = [...new Set([...seen, ...final])];
  const ofKind = (kind: number): number => counted.filter((n) => n % 3 === kind).length;
  const slashed = [...new Set(counted.flatMap(validatorsOf))].sort((a, b) => a - b);
  const blocks = epochs.flatMap((epoch) => chain.rows(epoch)).filter((row) => row['status'] === '1');
  const total = (field: string): number => blocks.reduce((sum, row) => sum + Number(row[field]), 0);
  const { proposed, missed, orphaned } = chain.count(first, chain.finalized);
  const counters = {
    scanned_epoch: chain.finalized,
    skipped_epochs_total: 0,
    'slots_total proposed': proposed,
    'slots_total missed': missed,
    'slots_total orphaned': orphaned,
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
    attester_slashed_validators_total: slashed.length,
  };
  return { counters, slashed };
}

/** The same series of /metrics. */
export function countersOf(text: string, truth: Truth): Record<string, number> {
  const series = seriesOf(text).map(({ name, labels: { chain: _, ...labels }, value }): [string, number] => [
    [name.replace('beaconchain_', ''), ...Object.values(labels)].join(' '),
    value,
  ]);
  return Object.fromEntries(series.filter(([key]) => key in truth.counters));
}
