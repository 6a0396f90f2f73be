import { type Chain, epochTime, explorerUrl } from '../../facts/chain.ts';
import { etherText } from '../../facts/ether.ts';
import { nameOf } from '../../facts/watch.ts';
import { type Html, html } from '../../toolkit/lib/html.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { count, listed, spaced } from '../../toolkit/lib/words.ts';
import { firingIf } from '../conditions.ts';
import {
  type Cell,
  type Facts,
  type Linked,
  lines,
  NOT_KNOWN,
  type Notice,
  notice,
  quiet,
  type Summary,
  someOf,
  type Table,
  time,
} from '../content.ts';
import { attestationTable, DUTIES } from '../duties.ts';
import type { Timing } from '../read.ts';
import { slashedNotices } from '../slashed.ts';
import type { Shown } from '../source.ts';
import { weiOfAll } from '../sums.ts';
import { credentialNotices, credentialTables } from './credentials.ts';
import { recentlyMissing } from './epoch-metrics.ts';
import { leavingTables } from './leaving.ts';
import { periodAt, startOf, watchedMembers } from './members.ts';
import {
  byStatusOf,
  etherIn,
  type ShownGroup,
  type Sums,
  shownGroups,
  slashedIn,
  totalOf,
  watchedOf,
} from './metrics.ts';
import type { ValidatorsOptions } from './options.ts';
import { identifierOf, type Validators } from './state.ts';

const MAX_NAMED = 5;

export function validatorsPage(
  options: ValidatorsOptions,
  value: Validators,
  timing: Timing,
  { inputs, linked }: Pick<Shown, 'inputs' | 'linked'>,
): Summary {
  const { chain, watch, status, syncCommittee, shared = [] } = options;
  const shown = shownGroups(options, value, timing);
  const sums = totalOf(shown);
  const watched = sums ? validators(chain, shown, sums, timing.now, linked) : NOT_KNOWN;
  const own = status ? watchedOf(value, watch) : [];
  const cells: Facts = [
    ['Chain', chain],
    ...(status ? [['Watched', watched] as const] : []),
    ...(syncCommittee ? [['In the sync committee', committees(options, value, timing.now, linked)] as const] : []),
  ];
  return {
    notices: [
      ...(inputs.showsSlashed || !status ? [] : slashedNotices(chain, slashedIn(value, watch), timing.now)),
      ...credentialNotices(chain, own, timing.now),
      ...(sums ? noticesOf(chain, sums) : []),
      ...missingNotices(options, value, sums, timing.now),
      ...(shared.length > 0
        ? [notice('warning', 'Two groups share a validator', `: ${listed(shared)}. The first group keeps it.`)]
        : []),
    ],
    ...(status && {
      tally: {
        noun: 'validator',
        ...talliedOf(
          sums,
          shown.reduce((sum, one) => sum + one.watched, 0),
        ),
      },
    }),
    groups: shown.map((one) => ({ group: one.labels['group'], facts: factsOf(one) })),
    tables: [
      {
        title: 'Validators',
        columns: cells.map(([column]) => column),
        rows: [cells.map(([, cell]) => cell)],
        size: 1,
        empty: '',
      },
      ...attestations(chain, shown, timing.now),
      ...leavingTables(chain, sums?.validators ?? [], timing.now, linked),
      ...credentialTables(chain, own, timing.now, linked),
    ],
  };
}

/** As in the alert rule, a validator is offline if two responses of different epochs report it. */
function noticesOf(chain: Chain, { offline, validators }: Sums): Notice[] {
  const certain = offline.filter(({ offlineSince, epoch }) => offlineSince !== undefined && offlineSince < epoch);
  const notFound = validators.filter(({ status }) => status === 'not_found');
  return [
    ...firingIf(
      'BeaconchainValidatorOffline',
      certain.map(({ index }) => index),
      chain,
    ),
    ...firingIf(
      'BeaconchainValidatorNotFound',
      notFound.map((one) => nameOf(identifierOf(one))),
      chain,
    ),
  ];
}

/** As in the alert rule. An offline validator has a more urgent notice. */
const MANY_MISSED = 3;

function missingNotices(
  options: ValidatorsOptions,
  value: Validators,
  { offline }: Pick<Sums, 'offline'> = { offline: [] },
  now: UnixMs,
): Notice[] {
  const isOffline = new Set(offline.map(({ index }) => index));
  const missing = recentlyMissing(options, value, now).filter(
    ({ validator, missed }) => missed >= MANY_MISSED && !isOffline.has(validator),
  );
  return firingIf(
    'BeaconchainValidatorMissesAttestations',
    missing.map(({ validator }) => validator),
    options.chain,
  );
}

/** A validator without duties is neither well nor ill. */
function talliedOf(sums: Sums | undefined, watched: number) {
  const { online: well = 0, offline = [], validators: read = [] } = sums ?? {};
  return { well, known: well + offline.length, unknown: watched - read.length };
}

/** The attestations of all validators. Empty unless all are known. */
function attestations(chain: Chain, shown: readonly ShownGroup[], now: UnixMs): Table[] {
  const known = shown.flatMap(({ duties }) => duties ?? []);
  return known.length < shown.length ? [] : attestationTable(chain, 'your validators', known, now);
}

function factsOf(one: ShownGroup): Facts {
  const { sums } = one;
  const online = sums && `${count(sums.online)} of ${count(sums.validators.length)} online`;
  return [...(online ? [['Validators', online] as const] : []), ...amounts([one])];
}

/** Sums over the groups, without amounts that are unknown for a group. */
function amounts(shown: readonly ShownGroup[]): (readonly [label: string, value: string])[] {
  const stake = etherIn(shown, ({ effectiveBalance }) => effectiveBalance);
  const rewards = shown.map((one) => one.rewards?.sums);
  const earned = weiOfAll(rewards.flatMap((one) => [one?.execution, ...DUTIES.map((duty) => one?.earned[duty])]));
  const missed = weiOfAll(rewards.flatMap((one) => DUTIES.map((duty) => one?.missed[duty])));
  return [
    ...(stake === undefined ? [] : [['Stake', `${count(stake)} ETH`] as const]),
    ...(earned === undefined ? [] : [['Earned in 24 h', etherText(earned)] as const]),
    ...(missed === undefined ? [] : [['Missed in 24 h', etherText(missed)] as const]),
  ];
}

function validators(chain: Chain, shown: readonly ShownGroup[], sums: Sums, now: UnixMs, linked: Linked): Cell {
  const { online, offline, epoch } = sums;
  const statuses = byStatusOf(shown).filter(([, number]) => number > 0);
  return lines(
    `${count(online)} of ${count(sums.validators.length)} online`,
    ...(offline.length > 0
      ? [
          html`offline: ${named(
            chain,
            offline.map(({ index }) => index),
            linked,
          )}`,
        ]
      : []),
    ...amounts(shown).map(([label, value]) => `${label.toLowerCase()}: ${value}`),
    quiet(statuses.map(([status, number]) => `${count(number)} ${spaced(status)}`).join(', ')),
    html`epoch ${epoch}, ${time(epochTime(chain, epoch) * 1000, now)}`,
  );
}

function committees(options: ValidatorsOptions, value: Validators, now: UnixMs, linked: Linked): Cell {
  const { chain, watch } = options;
  const period = periodAt(chain, now);
  const [current, next] = [period, period + 1].map((one) => watchedMembers(watch, value.committees, one));
  const turn = time(startOf(chain, period + 1), now);
  return lines(
    current?.length ? html`now ${named(chain, current, linked)}; ends ${turn}` : `now ${current ? 'none' : NOT_KNOWN}`,
    next?.length ? html`next ${named(chain, next, linked)}; begins ${turn}` : `next ${next ? 'none' : NOT_KNOWN}`,
  );
}

/** A few validators by index, and the number of the others. */
function named(chain: Chain, validators: readonly number[], linked: Linked): Html {
  const few = validators.slice(0, MAX_NAMED).map((index) => linked(`${index}`, explorerUrl(chain, 'validator', index)));
  return someOf(few, validators.length);
}
