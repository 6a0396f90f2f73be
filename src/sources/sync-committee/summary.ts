import { html } from '../../lib/html.ts';
import { lines, NOT_KNOWN, quiet, type Summary, time } from '../content.ts';
import type { Timing } from '../source.ts';
import type { SyncCommittee } from './schema.ts';

/** The current period and its end. */
export function syncCommitteeSummary(period: SyncCommittee['period'], { now }: Timing): Summary {
  if (!period) return { facts: [['Sync committee', NOT_KNOWN]] };
  const { number, epoch, timestamp } = period;
  return {
    facts: [
      [
        'Sync committee',
        lines(
          html`period ${number} ${quiet(`epochs ${epoch.start} to ${epoch.end}`)}`,
          html`ends ${time(timestamp.end * 1000, now)}`,
        ),
      ],
    ],
  };
}
