import { type Chain, epochTime, validatorUrl } from '../../facts/chain.ts';
import { type Html, html } from '../../toolkit/lib/html.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { count, percent, plural, spaced } from '../../toolkit/lib/words.ts';
import { firingIf } from '../conditions.ts';
import { type Cell, lines, link, NOT_KNOWN, type Notice, quiet, type Summary, time } from '../content.ts';
import { slashedNotices } from '../slashed.ts';
import type { Timing } from '../source.ts';
import { periodAt, startOf, watchedMembers } from './committees.ts';
import { type Sums, shownGroups, shownSums, slashedIn } from './metrics.ts';
import type { ValidatorsOptions } from './options.ts';
import type { Validator, Validators } from './schema.ts';

const MAX_NAMED = 5;

/** The watched validators: who is offline, balances, duties, and who is in a sync committee. */
export function validatorsSummary(options: ValidatorsOptions, value: Validators, timing: Timing): Summary {
  const { chain, watch, status, syncCommittee, hasSlashings } = options;
  const sums = shownSums(options, value, timing);
  return {
    notices: [
      ...(hasSlashings || !status ? [] : slashedNotices(chain, slashedIn(value, watch), timing.now)),
      ...(sums ? noticesOf(chain, sums) : []),
    ],
    facts: [
      ...(status ? [['Watched validators', sums ? validators(options, value, sums, timing) : NOT_KNOWN] as const] : []),
      ...(syncCommittee ? [['Watched in the sync committee', committees(options, value, timing.now)] as const] : []),
    ],
  };
}

/** As in the alert rule, a validator is offline if two answers of different epochs report it. */
function noticesOf(chain: Chain, { offline, epoch, validators }: Sums): Notice[] {
  const certain = offline.filter(({ offlineSince = epoch }) => offlineSince < epoch);
  const notFound = validators.filter(({ status }) => status === 'not_found');
  return [
    ...firingIf('BeaconchainValidatorOffline', indices(certain), chain),
    ...firingIf('BeaconchainValidatorNotFound', indices(notFound), chain),
  ];
}

function indices(validators: readonly Validator[]): number[] {
  return validators.map(({ index }) => index);
}

function validators(options: ValidatorsOptions, value: Validators, sums: Sums, timing: Timing): Cell {
  const { chain } = options;
  const { online, offline, byStatus, epoch } = sums;
  const statuses = [...byStatus].filter(([, number]) => number > 0);
  const scores = shownGroups(options, value, timing).flatMap(({ labels: { group }, performance }) => {
    const score = performance?.scores.total;
    return score === undefined ? [] : [group === undefined ? percent(score, 2) : `${group} ${percent(score, 2)}`];
  });
  return lines(
    `${count(online)} of ${plural(sums.validators.length, 'validator')} online`,
    ...(offline.length > 0 ? [html`offline: ${named(chain, indices(offline))}`] : []),
    quiet(statuses.map(([status, number]) => `${count(number)} ${spaced(status)}`).join(', ')),
    ...(scores.length === 0 ? [] : [quiet(`BeaconScore of 24 hours: ${scores.join(', ')}`)]),
    html`epoch ${epoch}, ${time(epochTime(chain, epoch) * 1000, timing.now)}`,
  );
}

function committees(options: ValidatorsOptions, value: Validators, now: UnixMs): Cell {
  const { chain } = options;
  const period = periodAt(chain, now);
  const [current, next] = [period, period + 1].map((one) => watchedMembers(options, value, one));
  const turn = time(startOf(chain, period + 1), now);
  return lines(
    current?.length ? html`now ${named(chain, current)}; ends ${turn}` : `now ${current ? 'none' : NOT_KNOWN}`,
    next?.length ? html`next ${named(chain, next)}; begins ${turn}` : `next ${next ? 'none' : NOT_KNOWN}`,
  );
}

/** Links a few validators to their pages in the explorer, and counts the others. */
function named(chain: Chain, validators: readonly number[]): Html {
  const few = validators
    .slice(0, MAX_NAMED)
    .map((validator) => link(String(validator), validatorUrl(chain, validator)));
  const more = validators.length - few.length;
  return html`${few.flatMap((one, i) => (i === 0 ? [one] : [', ', one]))}${more > 0 ? ` and ${count(more)} more` : ''}`;
}
