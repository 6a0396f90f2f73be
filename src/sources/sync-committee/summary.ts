import { html } from '../../toolkit/lib/html.ts';
import { lines, NOT_KNOWN, quiet, type Summary, time } from '../content.ts';
import type { Timing } from '../source.ts';
import type { SyncCommittee } from './schema.ts';

/** The current period and its end. */
export function syncCommitteeSummary({ period }: SyncCommittee, { now }: Timing): Summary {
  if (!period) return { facts: [['Sync committee', NOT_KNOWN]] };
  const { number, epoch, timestamp } = period;
  const end = time(timestamp.end * 1000, now);
  return {
    facts: [
      [
        'Sync committee',
        lines(
          html`period ${number} ${quiet(`epochs ${epoch.start} to ${epoch.end}`)}`,
          timestamp.end * 1000 > now ? html`ends ${end}` : html`ended ${end}; the next period is not read yet`,
        ),
      ],
    ],
  };
}
