import type { Breakage } from './breakage.ts';

/** Faults of the count of slots and slashings. */
export const SLASHINGS_BREAKAGES: readonly Breakage[] = [
  {
    name: 'epoch counted before it is final',
    file: 'sources/slashings/finalized-pass.ts',
    find: '  const newest = newestToCount(state);',
    replace: '  const newest = Math.max(newestToCount(state), (state.headEpoch ?? 0) - 1);',
    why: 'Blocks that a reorganisation takes back are counted.',
  },
  {
    name: 'epoch counted twice',
    file: 'sources/slashings/finalized-pass.ts',
    find: '  const { scannedEpoch = epoch - 1 } = state;',
    replace: '  const scannedEpoch = epoch - 1;',
    why: 'An epoch that is reported as the finalized one twice is counted twice.',
  },
  {
    name: 'scheduled slot of a finalized epoch counted at once',
    file: 'sources/slashings/finalized-pass.ts',
    find: "read.rows.some((row) => row.status === '0') || unreadBlocks",
    replace: 'unreadBlocks',
    why: 'A block that the service shows late is counted as missed.',
  },
  {
    name: 'orphaned row preferred',
    file: 'sources/slashings/read.ts',
    find: "['1', '3', '2', '0']",
    replace: "['3', '1', '2', '0']",
    why: 'A slot with a canonical and an orphaned block counts as orphaned.',
  },
  {
    name: 'skipped epochs not counted',
    file: 'sources/slashings/count.ts',
    find: '  const totals = { ...state.totals, skippedEpochs: state.totals.skippedEpochs + skipped };',
    replace: '  const { totals } = state;',
    why: 'Epochs are left out silently.',
  },
  {
    name: 'seen slashings forgotten at a restart',
    file: 'sources/slashings/schema.ts',
    find: '  seen: z.array(z.tuple([z.string(), Index])),',
    replace: '  seen: z.array(z.tuple([z.string(), Index])).transform((seen) => seen.slice(0, 0)),',
    why: 'A slashing that a later block contains again is counted again after a restart.',
  },
  {
    name: 'slashing identified by its block',
    file: 'sources/slashings/evidence.ts',
    find: "hash('sha256', pair.join(' '))",
    replace: "hash('sha256', [record.block_root, ...pair].join(' '))",
    why: 'A slashing that another block contains after a reorganisation is counted twice.',
  },
  {
    name: 'slashings of an orphaned block counted',
    file: 'sources/slashings/read.ts',
    find: 'records.filter((record) => record.block_root === row.blockroot);',
    replace: 'records;',
    why: 'Records of another block of the slot are counted.',
  },
  {
    name: 'incomplete slashings taken for all',
    file: 'sources/slashings/read.ts',
    find: 'new Set(own.map(identityOf)).size >= block.attesterslashingscount;',
    replace: 'true;',
    why: 'Slashings that the service does not yet list are never read.',
  },
];
