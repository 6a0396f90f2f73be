import { allowedPerDay, EMPTY_BUCKET, quotaOf } from '../../../src/budget/bucket.ts';
import { keyAt, type Ledger } from '../../../src/budget/ledger.ts';
import { createFleet } from '../../../src/sandbox/machines.ts';
import { PROCESSES, recordOf } from '../../../src/sandbox/machines-records.ts';
import { type Attempt, attemptOf, type Entry, emptyEntry, sourceId } from '../../../src/scheduler/entry.ts';
import type { BudgetView } from '../../../src/scheduler/paces.ts';
import { type KnownSource, type ReadSchedule, type SourceView, sourceViews } from '../../../src/scheduler/schedules.ts';
import { Machines } from '../../../src/sources/machines/state.ts';
import { type Config, sourcesOf } from '../../../src/sources/registry.ts';
import { NO_SLASHINGS } from '../../../src/sources/slashings/count.ts';
import { type Proposal, Slashings } from '../../../src/sources/slashings/state.ts';
import type { Source } from '../../../src/sources/source.ts';
import { NO_VALIDATORS, Validators } from '../../../src/sources/validators/state.ts';
import type { StatusInput } from '../../../src/status-page/headline.ts';
import type { StatusPage } from '../../../src/status-page/page.ts';
import { statusOf } from '../../../src/status-page/status.ts';
import { datapoint } from '../answers/datapoint.ts';
import { BOTH_CHAINS, defaultConfig } from '../runs/default-config.ts';
import { entryOf } from '../runs/known.ts';
import { DAY, HOUR, MINUTE, NOW } from '../time/timing.ts';

export const SCRIPT = '<script>alert(1)</script>';

const SECONDS = NOW / 1000;

const NONE = { mainnet: [], hoodi: [] };
/** Two sites, one of them on both chains, and keys elsewhere. The watched validator 12345 is in none. */
const GROUPS: Config['groups'] = [
  { name: 'home', machines: ['node-a', 'quiet-*'], watch: { ...NONE, mainnet: [{ first: 20_000, last: 20_001 }] } },
  {
    name: 'office',
    machines: ['office-*'],
    watch: { mainnet: [{ first: 20_050, last: 20_050 }], hoodi: [{ first: 500, last: 500 }] },
  },
  { name: 'pool', machines: [], watch: { ...NONE, mainnet: [{ first: 30_000, last: 30_000 }] } },
];

const OWN = { first: 12_345, last: 12_345 };

function config(expected: readonly string[], groups: Config['groups'] = []): Config {
  const defaults = defaultConfig();
  const watchOn = (chain: 'mainnet' | 'hoodi') => groups.flatMap(({ watch }) => watch[chain]);
  return {
    ...defaults,
    ...BOTH_CHAINS,
    groups,
    machines: { ...defaults.machines, expected: [...expected], chainRules: [{ match: 'hoodi-*', chain: 'hoodi' }] },
    validators: { ...defaults.validators, watch: { mainnet: [OWN, ...watchOn('mainnet')], hoodi: watchOn('hoodi') } },
  };
}

/** Simulated machines that reported half a minute ago. `names` replaces the first names. */
export function fleetAt(
  count: number,
  { names = [], silent = [] }: { names?: string[]; silent?: string[] } = {},
): Machines {
  const fleet = createFleet('status', count);
  const machines = [...fleet.machines.values()].map((machine, i) => {
    const name = names[i] ?? machine.name;
    const time = silent.includes(name) ? NOW - 5 * HOUR : NOW - 30_000 + (i % 7) * 1_000;
    const records = PROCESSES.map((process) => [process, { ...recordOf({ machine, process, time }), machine: name }]);
    return { name, ...Object.fromEntries(records) };
  });
  return Machines.parse({ machines, dropped: 0 });
}

/** The state of the source `age` ms ago. */
function slashings(
  slot: number,
  recent: Slashings['recent'],
  age: number,
  outcomes: readonly Proposal[] = [],
): Slashings {
  const headSlot = slot - Math.floor(age / 12_000);
  const headEpoch = Math.floor(headSlot / 32);
  const proposals = (status: string): number => outcomes.filter((one) => one.status === status).length;
  const missed = outcomes.filter(({ status }) => status !== 'proposed');
  const validators = recent.flatMap((one) => one.validators.map((validator) => [validator, one.slot]));
  return Slashings.parse({
    ...NO_SLASHINGS,
    head: { slot: headSlot, epoch: headEpoch },
    headEpoch,
    finalizedEpoch: headEpoch - 2,
    scannedEpoch: headEpoch - 2,
    slashed: validators,
    recent,
    missedProposals: missed.map(({ validator, slot: missedSlot }) => [validator, missedSlot]),
    totals: {
      ...NO_SLASHINGS.totals,
      slots: { proposed: 7_100, missed: 60, orphaned: 8 },
      watchedProposals: {
        proposed: proposals('proposed'),
        missed: proposals('missed'),
        orphaned: proposals('orphaned'),
      },
      attesterSlashings: { double_vote: recent.length, surround_vote: 0, unknown: 0 },
      slashedValidators: validators.length,
      proposerSlashings: 1,
    },
  });
}

const RECENT: Slashings['recent'] = [
  { slot: 15_326_720, kind: 'surround_vote', validators: [70_000], count: 1 },
  { slot: 15_327_003, kind: 'double_vote', validators: [801_200, 801_201, 801_202], count: 3 },
];

const PROPOSED: readonly Proposal[] = [
  { slot: 15_201_744, validator: 12_345, status: 'proposed' },
  { slot: 15_311_007, validator: 12_345, status: 'proposed' },
];
/** The last one two hours ago. */
const MISSED: readonly Proposal[] = [
  ...PROPOSED,
  { slot: 15_320_033, validator: 12_345, status: 'orphaned' },
  { slot: 15_328_205, validator: 12_345, status: 'missed' },
];

/** Watched validators, those of `offline` offline, and in no committee. */
function validators(askedAt: number, indices = [12_345], offline = [0], epoch = 479_021): Validators {
  const [balance, effectiveBalance] = ['32000000000000000000', '32000000000000000000'];
  const one = { status: 'active_ongoing', epoch, askedAt, balance, effectiveBalance };
  return Validators.parse({
    ...NO_VALIDATORS,
    validators: indices.map((index) => ({ ...one, index, online: !offline.includes(index) })),
    committees: [1_871, 1_872].map((period) => ({ period, seats: [7, 8] })),
  });
}

const NO_DUTY = { assigned: 0, missed: 0, done: 0 };

function performance(assigned: number, missed: number) {
  const attestation = { assigned, missed, done: assigned - missed };
  return { duties: { attestation, proposal: NO_DUTY, sync_committee: NO_DUTY }, scores: { total: 0.99 }, votes: {} };
}

/** Of the execution layer only the rewards of the first group are known, and of the last ones none at all. */
function grouped(): Record<string, unknown> {
  const [askedAt, at] = [NOW - 30_000, NOW - 12 * MINUTE];
  const read = validators(NOW - 20_000, [12_345, 20_000, 20_001, 20_050, 30_000], [20_001]);
  const watches = ['20000-20001', '20050-20050', '30000-30000', '12345-12345'];
  const rewards = {
    earned: { attestation: '6094000000000000', proposal: '0', sync_committee: '0' },
    missed: { attestation: '36000000000000', proposal: '0', sync_committee: '0' },
  };
  return {
    ...values(fleetAt(4, { names: ['node-a', 'quiet-1', 'office-1', 'other-1'], silent: ['quiet-1'] })),
    'validators-mainnet': {
      ...read,
      duties: watches.map((watch, i) => ({ watch, askedAt, at, sums: performance(i === 0 ? 450 : 225, i) })),
      rewards: [
        { watch: watches[0], askedAt, at, sums: { ...rewards, execution: '1000000000000000' } },
        { watch: watches[1], askedAt, at, sums: rewards },
      ],
    },
    'validators-hoodi': validators(NOW - 20_000, [500], [], 126_444),
    'network-mainnet': {
      performance: { epoch: 479_019, sums: performance(216_000_000, 300_000) },
    },
  };
}

const span = { epoch: { start: 478_976, end: 479_231 }, timestamp: { start: SECONDS - 18_853, end: SECONDS + 79_450 } };

function values(machines: Machines, recent = RECENT, age = 0, proposals = PROPOSED): Record<string, unknown> {
  const newest = datapoint({ day: 2_128, day_start: SECONDS - 86_437 - 40_000, day_end: SECONDS - 40_037 });
  return {
    machines,
    'daily_returns-mainnet': { newest },
    'daily_returns-hoodi': { newest },
    'slashings-mainnet': slashings(15_328_801, recent, age, proposals),
    'slashings-hoodi': slashings(4_046_353, [], age),
    'validators-mainnet': validators(NOW - 20_000 - age),
    'sync_committee-mainnet': { period: { number: 1_871, ...span } },
    'sync_committee-hoodi': { period: { number: 493, ...span } },
  };
}

function ledger(
  limits: Ledger['buckets'][string]['limits'],
  overrides: Partial<Ledger['buckets'][string]> = {},
): Ledger {
  return {
    buckets: { default: { ...EMPTY_BUCKET, limits, firstUseAt: NOW - 12 * DAY, ...overrides } },
    routes: {},
    otherRoutes: 'default',
    key: { fingerprint: '', standing: 'valid', since: NOW - 30_000, mayProbe: false, validHeader: true },
  };
}

const SCALE = ledger({ second: 5 });
/** A trial in its twelfth day. Others have used a small part of it. */
const TRIAL = ledger(
  { second: 1, month: 1_000 },
  { remaining: { month: 596 }, month: { limit: 1_000, remaining: 596, own: 358, since: NOW - 12 * DAY } },
);

interface State {
  readonly ledger: Ledger;
  readonly values?: Record<string, unknown>;
  readonly attempt?: (id: string) => Partial<Attempt>;
  readonly keyAt?: number;
  readonly expected?: readonly string[];
  readonly groups?: Config['groups'];
}

/** The states in which tests look at the page. */
const STATE_OF = {
  healthy: () => ({ ledger: SCALE, values: values(fleetAt(4)) }),
  missed: () => ({ ledger: SCALE, values: values(fleetAt(4), RECENT, 0, MISSED) }),
  grouped: () => ({ ledger: SCALE, values: grouped(), groups: GROUPS }),
  stretched: () => ({ ledger: TRIAL, values: values(fleetAt(3), RECENT, HOUR), attempt: () => ({ costs: [1] }) }),
  revoked: () => ({
    ledger: { ...TRIAL, key: { ...TRIAL.key, standing: 'revoked', since: NOW - 3 * HOUR } },
    values: values(fleetAt(3, { silent: ['node-a', 'node-b', 'node-c'] }), RECENT, 3 * HOUR),
    keyAt: Number.POSITIVE_INFINITY,
    attempt: () => ({
      failuresInARow: 1,
      lastAttemptAt: NOW - 3 * HOUR,
      lastSuccessAt: NOW - 3 * HOUR - MINUTE,
      lastError: { at: NOW - 3 * HOUR, reason: 'revoked', message: 'machine_metrics: revoked (429 with limits of 0)' },
    }),
  }),
  silent: () => ({
    ledger: SCALE,
    values: values(fleetAt(5, { silent: ['node-d'] }), [
      ...RECENT,
      { slot: 15_328_700, kind: 'double_vote', validators: [12_345, 90_001], count: 40 },
    ]),
    expected: ['node-a', 'never-1'],
    attempt: (id) =>
      id === 'slashings-hoodi'
        ? {
            lastError: { at: NOW - 6 * HOUR, reason: 'timeout', message: 'epoch_slots: timeout (no complete answer)' },
          }
        : {},
  }),
  empty: () => ({ ledger: { ...ledger({}), buckets: { '': EMPTY_BUCKET } }, expected: ['node-a'] }),
  thousand: () => ({ ledger: SCALE, values: values(fleetAt(1_000, { silent: ['node-d', 'machine-0500'] })) }),
  hostile: () => ({
    ledger: { ...SCALE, buckets: { [SCRIPT]: SCALE.buckets['default'] ?? EMPTY_BUCKET } },
    values: values(
      fleetAt(4, { names: [SCRIPT, `"'><img src=x onerror=alert(1)>`, 'x'.repeat(1_000), 'W'.repeat(60)] }),
    ),
    attempt: () => ({ lastError: { at: NOW - MINUTE, reason: SCRIPT, message: `${SCRIPT} ${'long'.repeat(200)}` } }),
  }),
} as const satisfies Record<string, () => State>;
export type StateName = keyof typeof STATE_OF;

/** The input of the status page in a state. */
export function knownIn(name: StateName): StatusInput {
  const state: State = STATE_OF[name]();
  const sources = sourcesOf(config(state.expected ?? [], state.groups));
  const known = sources.map((source): KnownSource => {
    const entry = entryIn(source, state);
    return { source, saved: entry, current: entry, running: false };
  });
  const budgetOptions = { utilization: 0.9 };
  const bucket = Object.keys(state.ledger.buckets)[0] ?? '';
  const budgetView: BudgetView = {
    bucketOf: () => bucket,
    allowedPerDay: (of) => allowedPerDay(state.ledger.buckets[of], budgetOptions, NOW),
    quotaOf: (of) => quotaOf(state.ledger.buckets[of] ?? EMPTY_BUCKET, budgetOptions, NOW),
    keyAt: () => state.keyAt ?? keyAt(state.ledger),
  };
  return {
    views: sourceViews(known, budgetView, NOW),
    ledger: state.ledger,
    budgetOptions,
    startedAt: NOW - 34 * HOUR,
    telemetryPath: '/metrics',
  };
}

function entryIn(source: Source, { values, attempt }: State): Entry {
  const id = sourceId(source);
  const value = values?.[id];
  if (value === undefined) return emptyEntry(source);
  const times = { lastAttemptAt: NOW - 20_000, lastSuccessAt: NOW - 19_000, durationMs: 640 };
  return entryOf(source, { ...times, ...attempt?.(id) }, { value });
}

export function pageIn(name: StateName): StatusPage {
  return statusOf(knownIn(name), NOW);
}

/** A view whose first read has another schedule or another last attempt. */
export function withFirst(
  view: SourceView,
  { attempt, ...schedule }: Partial<ReadSchedule> & { readonly attempt?: Partial<Attempt> },
): SourceView {
  const { entry, reads } = view;
  const first = { ...view.first, ...schedule };
  const { name } = first.read;
  const last = { ...attemptOf(entry, first.read), ...attempt };
  return {
    ...view,
    first,
    reads: reads.map((one) => (one === view.first ? first : one)),
    entry: { ...entry, reads: { ...entry.reads, [name]: last } },
  };
}

/** The input with some fields of each view changed. */
export function changed(known: StatusInput, change: (view: SourceView) => Partial<SourceView>): StatusInput {
  return { ...known, views: known.views.map((view) => ({ ...view, ...change(view) })) };
}

/** The input if all is well but for the key. */
export function withKey(key: Partial<Ledger['key']>): StatusInput {
  const known = knownIn('healthy');
  return { ...known, ledger: { ...known.ledger, key: { ...known.ledger.key, ...key } } };
}
