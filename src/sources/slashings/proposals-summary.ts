import { type Chain, slotTime, slotUrl, validatorUrl } from '../../lib/chain.ts';
import { MS_PER_DAY } from '../../lib/duration.ts';
import type { UnixMs } from '../../lib/time.ts';
import { count, listed, plural, relative } from '../../lib/words.ts';
import { badge, type Cell, link, type Notice, notice, type Table, time } from '../content.ts';
import type { SlashingsOptions } from './options.ts';
import type { Proposal, Slashings } from './schema.ts';
import { watches } from './watch.ts';

/** Of proposals missed in the last day. */
export function missedNotices({ chain, watch }: SlashingsOptions, state: Slashings, now: UnixMs): Notice[] {
  const missed = state.missedProposals.filter(
    ([validator, slot]) => watches(watch, validator) && timeOf(chain, slot) > now - MS_PER_DAY,
  );
  const [first, ...others] = missed;
  if (!first) return [];
  const [validator, slot] = first;
  if (others.length === 0) {
    const ago = relative(timeOf(chain, slot), now);
    return [notice('warning', `Watched validator ${validator} of ${chain} missed its proposal ${ago}.`)];
  }
  const validators = missed.map(([one]) => one).sort((a, b) => a - b);
  const who = plural(missed.length, 'watched validator');
  return [notice('warning', `${who} of ${chain} missed a proposal in the last day: ${listed(validators)}.`)];
}

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
    empty: 'None in the finalized epochs that were counted.',
  };
}

function outcome(status: Proposal['status']): Cell {
  return badge(status === 'proposed' ? 'good' : 'warning', status);
}

function timeOf(chain: Chain, slot: number): UnixMs {
  return slotTime(chain, slot) * 1000;
}
