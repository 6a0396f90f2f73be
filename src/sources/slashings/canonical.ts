import type { SlotRow } from './schema.ts';

/** The order in which the rows of a slot are preferred: proposed, orphaned, missed, scheduled. */
const STATUS_ORDER: readonly SlotRow['status'][] = ['1', '3', '2', '0'];

/**
 * One row for each slot, ascending. A slot can have an orphaned row in addition to the canonical one. The service
 * updates the status by slot (api-facts 5.1), so both can say "1". In this case the block counts that a later canonical
 * block names as its parent; without one, the first.
 */
export function canonicalRows(rows: readonly SlotRow[]): SlotRow[] {
  const bySlot = [...Map.groupBy(rows, (row) => row.slot)].sort(([a], [b]) => a - b);
  const parents = new Set<string | null | undefined>();
  // From the end, so that an orphaned branch of several blocks does not confirm its own blocks.
  const picked = bySlot.toReversed().map(([, candidates]) => {
    const row = pick(candidates, parents);
    if (row.status === '1') parents.add(row.parentroot);
    return row;
  });
  return picked.reverse();
}

function pick(candidates: readonly SlotRow[], parents: ReadonlySet<string | null | undefined>): SlotRow {
  const ranked = candidates.toSorted((a, b) => STATUS_ORDER.indexOf(a.status) - STATUS_ORDER.indexOf(b.status));
  const best = ranked[0] as SlotRow;
  const rivals = ranked.filter((row) => row.status === best.status);
  return rivals.find((row) => row.status === '1' && parents.has(row.blockroot)) ?? best;
}
