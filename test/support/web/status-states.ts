import { EMPTY_BUCKET } from '../../../src/budget/bucket.ts';
import { emptyLedger, type Ledger } from '../../../src/budget/ledger.ts';
import { viewsOf } from '../../../src/exporter/setup.ts';
import { epochAt } from '../../../src/facts/chain.ts';
import { type Block, drawnBlock } from '../../../src/sandbox/chain-world.ts';
import { addMachine, silence } from '../../../src/sandbox/machines.ts';
import { Sandbox } from '../../../src/sandbox/world.ts';
import { type Attempt, attemptOf } from '../../../src/scheduler/entry.ts';
import type { ReadSchedule, SourceView } from '../../../src/scheduler/schedules.ts';
import { type Config, sourcesOf } from '../../../src/sources/registry.ts';
import type { StatusInput } from '../../../src/status-page/headline.ts';
import type { StatusPage } from '../../../src/status-page/page.ts';
import { statusOf } from '../../../src/status-page/status.ts';
import { machineIn } from '../../simulation/service/fleet.ts';
import { failed } from '../answers/fake-api.ts';
import { slotAt } from '../answers/slot-rows.ts';
import { rewardsAnswer } from '../answers/validators.ts';
import { BOTH_CHAINS, defaultConfig } from '../runs/default-config.ts';
import { type Fault, learn } from '../runs/learn.ts';
import { DAY, HOUR, MINUTE, NOW } from '../time/timing.ts';

export const SCRIPT = '<script>alert(1)</script>';

const NONE = { mainnet: [], hoodi: [] };
/** Two sites, one of them on both chains, and keys elsewhere. The watched validator 12345 is in none. */
const GROUPS: Config['groups'] = [
  { name: 'home', machines: ['node-a', 'node-b'], watch: { ...NONE, mainnet: [{ first: 20_000, last: 20_001 }] } },
  {
    name: 'office',
    machines: ['node-c'],
    watch: { mainnet: [{ first: 20_050, last: 20_050 }], hoodi: [{ first: 500, last: 500 }] },
  },
  { name: 'pool', machines: [], watch: { ...NONE, hoodi: [{ first: 600, last: 600 }] } },
];

const OWN = 12_345;

function config({ expected = [], groups = [] }: Partial<State>): Config {
  const defaults = defaultConfig();
  const watchOn = (chain: 'mainnet' | 'hoodi') => groups.flatMap(({ watch }) => watch[chain]);
  const watch = { mainnet: [{ first: OWN, last: OWN }, ...watchOn('mainnet')], hoodi: watchOn('hoodi') };
  return {
    ...defaults,
    ...BOTH_CHAINS,
    groups,
    machines: { ...defaults.machines, expected: [...expected], chainRules: [{ match: 'hoodi-*', chain: 'hoodi' }] },
    validators: { ...defaults.validators, watch },
  };
}

function slot(minutesAgo: number): number {
  return slotAt('mainnet', NOW - minutesAgo * MINUTE);
}

/** Writes a block of mainnet so many minutes ago, or that there is none. */
function write({ chains: { mainnet } }: Sandbox, minutesAgo: number, block?: Partial<Block>): void {
  const at = slot(minutesAgo);
  mainnet.blocks.set(at, block ? [{ ...drawnBlock(mainnet, at), proposer: OWN, ...block }] : []);
}

/** So many machines. The watched validator proposed twice, and others were slashed. */
export function statusWorld(machines: number): Sandbox {
  const sandbox = new Sandbox({ seed: 'status', machines, slotsPerSlashing: Number.POSITIVE_INFINITY });
  sandbox.chains.mainnet.slashed.attester.set(slot(38), [70_000]).set(slot(35), [801_200, 801_201, 801_202]);
  for (const minutesAgo of [34, 33]) write(sandbox, minutesAgo, {});
  return sandbox;
}

/** The machine stopped pushing 40 minutes ago. */
function silenced({ fleet }: Sandbox, name: string): void {
  silence(machineIn(fleet, name), NOW - 40 * MINUTE);
}

/** Begins early enough to find what happened, and late enough to have counted all of it. */
const BEGUN = NOW - 45 * MINUTE;
export const TIMES: readonly number[] = [BEGUN, NOW - 20_000];

function ledger(limits: Ledger['buckets'][string]['limits'], overrides: Partial<Ledger['buckets'][string]> = {}) {
  const { buckets, otherRoutes, key, ...rest } = emptyLedger();
  const bucket = { ...EMPTY_BUCKET, limits, firstUseAt: NOW - 12 * DAY, ...overrides };
  const valid = { ...key, standing: 'valid', since: NOW - 30_000, validHeader: true } as const;
  return { ...rest, buckets: { default: bucket }, otherRoutes: 'default', key: valid } satisfies Ledger;
}

const SCALE = ledger({ second: 5 });
/** A trial in its twelfth day. Others have used a small part of it. */
const TRIAL = ledger(
  { second: 1, month: 1_000 },
  { remaining: { month: 596 }, month: { limit: 1_000, remaining: 596, own: 358, since: NOW - 12 * DAY } },
);

interface State {
  readonly ledger?: Ledger;
  readonly machines?: number;
  /** What else is so in the world. */
  readonly story?: (sandbox: Sandbox) => void;
  /** When each source had a round. */
  readonly times?: readonly number[];
  readonly fault?: Fault;
  readonly expected?: readonly string[];
  readonly groups?: Config['groups'];
}

const REVOKED_AT = NOW - 3 * HOUR;
const FAILED_AT = NOW - 30 * MINUTE;

/** The states in which tests look at the page. */
const STATE_OF = {
  healthy: {},
  missed: {
    story(sandbox) {
      write(sandbox, 32, { isCanonical: false });
      write(sandbox, 30);
      sandbox.chains.mainnet.missed.set(slot(30), OWN);
    },
  },
  grouped: {
    groups: GROUPS,
    story(sandbox) {
      silenced(sandbox, 'node-b');
      sandbox.chains.mainnet.silences.push({ validator: 20_001, from: NOW - 6 * HOUR, until: NOW });
    },
    // Of hoodi no rewards are known, and of the office not those of the execution layer. The network is read late.
    fault(request, now) {
      if (request.endpoint === 'network_performance' && now === BEGUN) return failed(request, 'timeout');
      const asked = request.endpoint === 'validators_rewards' ? JSON.stringify(request.body) : '';
      if (asked.includes('hoodi')) return failed(request, 'timeout');
      return asked.includes('20050')
        ? rewardsAnswer({ proposal: { missed_cl_reward: '0', missed_el_reward: '0' } }, epochAt('mainnet', now) - 3)
        : undefined;
    },
  },
  stretched: { ledger: TRIAL, machines: 3, times: [NOW - HOUR - 45 * MINUTE, NOW - HOUR] },
  revoked: {
    ledger: { ...TRIAL, key: { ...TRIAL.key, standing: 'revoked', since: REVOKED_AT } },
    machines: 3,
    times: [REVOKED_AT - 45 * MINUTE, REVOKED_AT - MINUTE, REVOKED_AT],
    fault: (request, now) => (now === REVOKED_AT ? failed(request, 'revoked') : undefined),
  },
  silent: {
    machines: 5,
    expected: ['node-a', 'never-1'],
    story(sandbox) {
      silenced(sandbox, 'node-d');
      const others = Array.from({ length: 39 }, (_, i) => 90_001 + i);
      sandbox.chains.mainnet.slashed.attester.set(slot(24), [OWN, ...others]);
    },
    times: [BEGUN, FAILED_AT, ...TIMES.slice(1)],
    fault: (request, now) => (request.chain === 'hoodi' && now === FAILED_AT ? failed(request, 'timeout') : undefined),
  },
  empty: { ledger: emptyLedger(), times: [], expected: ['node-a'] },
  thousand: { machines: 1_000, times: TIMES.slice(1) },
  hostile: {
    ledger: { ...SCALE, buckets: { [SCRIPT]: SCALE.buckets.default }, otherRoutes: SCRIPT },
    machines: 0,
    story({ fleet }) {
      for (const name of [SCRIPT, `"'><img src=x onerror=alert(1)>`, 'x'.repeat(1_000), 'W'.repeat(60)])
        addMachine(fleet, name);
    },
    times: [BEGUN, FAILED_AT, ...TIMES.slice(1)],
    fault: (_, now) =>
      now === FAILED_AT ? Object.assign(new Error(`${SCRIPT} ${'long'.repeat(200)}`), { name: SCRIPT }) : undefined,
  },
} as const satisfies Record<string, State>;
export type StateName = keyof typeof STATE_OF;

const KNOWN = new Map<StateName, Promise<StatusInput>>();

/** The input of the status page in a state: what the sources have learned of the world. */
export function knownIn(name: StateName): Promise<StatusInput> {
  const known = KNOWN.get(name) ?? made(STATE_OF[name]);
  KNOWN.set(name, known);
  return known;
}

async function made(state: State): Promise<StatusInput> {
  const { ledger = SCALE, machines = 4, story, times = TIMES, fault } = state;
  const sandbox = statusWorld(machines);
  story?.(sandbox);
  const setup = { sources: sourcesOf(config(state)), budgetOptions: { utilization: 0.9 }, routeOf: () => 'any' };
  return {
    views: viewsOf({ ledger, entries: await learn(setup.sources, sandbox, times, fault) }, setup, NOW),
    ledger,
    budgetOptions: setup.budgetOptions,
    startedAt: NOW - 34 * HOUR,
    telemetryPath: '/metrics',
  };
}

export async function pageIn(name: StateName): Promise<StatusPage> {
  return statusOf(await knownIn(name), NOW);
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

/** The input with some fields of the key changed. */
export function withKey(known: StatusInput, key: Partial<Ledger['key']>): StatusInput {
  return { ...known, ledger: { ...known.ledger, key: { ...known.ledger.key, ...key } } };
}
