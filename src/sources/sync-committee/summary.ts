import { type Chain, validatorUrl } from '../../lib/chain.ts';
import { type Html, html } from '../../lib/html.ts';
import type { UnixMs } from '../../lib/time.ts';
import { count, spaced } from '../../lib/words.ts';
import { type Cell, lines, link, NOT_KNOWN, quiet, type Summary, time } from '../content.ts';
import { refusedUntil } from '../refusal.ts';
import type { Timing } from '../source.ts';
import { endOf, periodAt, watchedMembers } from './members.ts';
import type { MembersOptions, SyncCommitteeOptions } from './options.ts';
import type { Period, SyncCommittee } from './schema.ts';

/** The current period and its end, and the watched validators in this committee and the next one. */
export function syncCommitteeSummary(
  { chain, members }: SyncCommitteeOptions,
  state: SyncCommittee,
  { now }: Timing,
): Summary {
  const { period } = state;
  if (!period) return { facts: [['Sync committee', NOT_KNOWN]] };
  const { number, epoch, timestamp } = period;
  const end = time(timestamp.end * 1000, now);
  return {
    chain: { sync_committee_period: number, sync_committee_end_timestamp_seconds: timestamp.end },
    facts: [
      [
        'Sync committee',
        lines(
          html`period ${number} ${quiet(`epochs ${epoch.start} to ${epoch.end}`)}`,
          timestamp.end * 1000 > now ? html`ends ${end}` : html`ended ${end}; the next period is not read yet`,
        ),
      ],
      ...(members
        ? [['Watched in the sync committee', watched(chain, members, { ...state, period }, now)] as const]
        : []),
    ],
  };
}

type Known = SyncCommittee & { readonly period: Period };

function watched(chain: Chain, members: MembersOptions, state: Known, now: UnixMs): Cell {
  const { period, membersRefusal } = state;
  const { current, next } = watchedMembers(members, state, now);
  const turn = time(endOf(period, periodAt(period, now)), now);
  const told = [
    current?.length ? html`now ${named(chain, current)}; ends ${turn}` : `now ${current ? 'none' : NOT_KNOWN}`,
    next?.length ? html`next ${named(chain, next)}; begins ${turn}` : `next ${next ? 'none' : NOT_KNOWN}`,
  ];
  if (!membersRefusal || now >= refusedUntil(membersRefusal, members.operatorAt)) return lines(...told);
  const refused = quiet(
    `The service refuses to list the members (${spaced(membersRefusal.reason)}). The exporter tries again every day, and after a reload or restart.`,
  );
  return current || next ? lines(...told, refused) : refused;
}

const MAX_NAMED = 5;

/** Links a few validators to their pages in the explorer, and counts the others. */
function named(chain: Chain, validators: readonly number[]): Html {
  const few = validators
    .slice(0, MAX_NAMED)
    .map((validator) => link(String(validator), validatorUrl(chain, validator)));
  const more = validators.length - few.length;
  return html`${few.flatMap((one, i) => (i === 0 ? [one] : [', ', one]))}${more > 0 ? ` and ${count(more)} more` : ''}`;
}
