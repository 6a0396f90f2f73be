import { type Chain, slotTime, slotUrl, validatorUrl } from '../../lib/chain.ts';
import type { UnixMs } from '../../lib/time.ts';
import { watches } from '../../lib/watch.ts';
import { count } from '../../lib/words.ts';
import { badge, type Cell, link, type Table, time } from '../content.ts';
import type { SlashingsOptions } from './options.ts';
import type { Proposal, Slashings } from './schema.ts';

export function proposalCounts({ totals }: Slashings): Cell {
  const { proposed, missed, orphaned } = totals.watchedProposals;
  return `${count(proposed)} proposed, ${count(missed)} missed, ${count(orphaned)} orphaned`;
}

/** The last proposals of watched validators, newest first. */
export function proposalTable({ chain, watch }: SlashingsOptions, state: Slashings, now: UnixMs): Table {
  const shown = state.recentProposals.filter(({ validator }) => watches(watch, validator));
  return {
    title: 'Last proposals of watched validators',
    columns: ['Slot', 'Chain', 'Time', 'Validator', 'Outcome'],
    rows: shown
      .toReversed()
      .map(({ slot, validator, status }) => [
        link(`${slot}`, slotUrl(chain, slot)),
        chain,
        time(timeOf(chain, slot), now),
        link(`${validator}`, validatorUrl(chain, validator)),
        outcome(status),
      ]),
    size: shown.length,
    empty: 'None in the finalized epochs counted so far.',
  };
}

function outcome(status: Proposal['status']): Cell {
  return badge(status === 'proposed' ? 'good' : 'warning', status);
}

function timeOf(chain: Chain, slot: number): UnixMs {
  return slotTime(chain, slot) * 1000;
}
