import { lines, quiet, type Summary, time } from '../content.ts';
import type { SyncCommittee } from './schema.ts';

/** The current period and its end. */
export function syncCommitteeSummary(period: SyncCommittee['period']): Summary {
  if (!period) return { facts: [['Sync committee', 'not known yet']] };
  const { number, epoch, timestamp } = period;
  return {
    facts: [
      [
        'Sync committee',
        lines(
          [`period ${number} `, quiet(`epochs ${epoch.start} to ${epoch.end}`)],
          ['ends ', time(timestamp.end * 1000)],
        ),
      ],
    ],
  };
}
