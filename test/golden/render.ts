import type { Headers } from '../../src/budget/headers.ts';
import { emptyLedger, type Ledger } from '../../src/budget/ledger.ts';
import { labelsOf, sectionsOf } from '../../src/exporter/metrics.ts';
import { OwnMetrics } from '../../src/exporter/own-metrics.ts';
import { viewsOf } from '../../src/exporter/setup.ts';
import { METRIC_UNITS } from '../../src/facts/ether.ts';
import { type AccountLimits, charge, createAccount, DEMO_KEY } from '../../src/sandbox/account.ts';
import { sourceId } from '../../src/scheduler/entry.ts';
import { type Config, sourcesOf } from '../../src/sources/registry.ts';
import type { Source } from '../../src/sources/source.ts';
import type { Format } from '../../src/toolkit/exposition/encode.ts';
import { Exposition } from '../../src/toolkit/exposition/exposition.ts';
import { told } from '../budget/told.ts';
import { BOTH_CHAINS, defaultConfig } from '../support/runs/default-config.ts';
import { MINUTE, NOW } from '../support/time/timing.ts';
import { VirtualClock } from '../support/time/virtual-clock.ts';
import { learnGolden, ODD_NAME } from './world.ts';

const BUDGET_OPTIONS = { utilization: 0.9 };

function goldenConfig(): Config {
  const config = defaultConfig();
  return {
    ...config,
    ...BOTH_CHAINS,
    machines: {
      ...config.machines,
      // The others are too many.
      expected: ['node-a', ODD_NAME, 'hoodi-1', 'missing-1'],
      max: 3,
      chainRules: [{ match: 'hoodi-*', chain: 'hoodi' }],
    },
    validators: {
      ...config.validators,
      watch: { mainnet: [{ first: 12_345, last: 12_346 }], hoodi: [{ first: 0, last: 99 }] },
      epochs: true,
      feeRecipients: [`0x${'0'.repeat(40)}`],
    },
  };
}

/** Hoodi keeps one source with values beside those of mainnet, and one that was not tried yet. */
const LEFT_OUT = ['daily_returns-hoodi', 'slashings-hoodi', 'validators-hoodi'];
const UNTRIED = 'network-hoodi';

function headersOf(plan: AccountLimits): Headers {
  const call = { path: '/', headers: { authorization: `Bearer ${DEMO_KEY}` } };
  return charge(createAccount({ plan }), call, NOW).headers;
}

/** An account on a plan with a quota, and a second bucket. */
function goldenLedger(): Ledger {
  const ledger = told(emptyLedger(), 'any', { headers: headersOf({ perSecond: 5, perMonth: 100_000 }) });
  const headers = { ...headersOf({ perSecond: 2, perHour: 500 }), 'ratelimit-bucket': 'other' };
  return told(ledger, 'other', { headers });
}

function ownMetrics(sources: readonly Source[]): OwnMetrics {
  const own = new OwnMetrics(false);
  own.expect(['machine_metrics', 'epoch_slots'], sources.map(labelsOf));
  for (const [endpoint, seconds] of [
    ['machine_metrics', 0.0625],
    ['machine_metrics', 0.5],
    ['epoch_slots', 20],
  ] as const) {
    own.requested(endpoint);
    own.took(endpoint, seconds);
  }
  own.failed({ endpoint: 'epoch_slots', reason: 'timeout' });
  own.invalidRecords('machine_metrics', 2);
  for (const source of sources) {
    for (let i = 0; i < 12; i += 1) own.ran(labelsOf(source), i < 2);
  }
  own.waited(12.5);
  own.stateWriteFailed();
  return own;
}

/**
 * The exposition as the daemon puts it together, of fixed values at a fixed time.
 * @param groupsOf The groups of the configuration; default: as without any
 */
export async function renderGolden(
  groupsOf?: (config: Config) => Config['groups'],
): Promise<(format: Format) => string> {
  const clock = new VirtualClock(NOW);
  const config = goldenConfig();
  const all = sourcesOf({ ...config, groups: groupsOf?.(config) ?? config.groups });
  const sources = all.filter((source) => !LEFT_OUT.includes(sourceId(source)));
  const ledger = goldenLedger();
  const entries = await learnGolden(sources.filter((source) => sourceId(source) !== UNTRIED));
  const setup = { sources, budgetOptions: BUDGET_OPTIONS, routeOf: () => 'any' };
  const snapshot = {
    now: NOW,
    views: viewsOf({ ledger, entries }, setup, NOW),
    ledger,
    budgetOptions: BUDGET_OPTIONS,
    startedAt: NOW,
    telemetryPath: '/metrics',
    reloadedAt: NOW - 5 * MINUTE,
    isLeader: true,
    linesDropped: 3,
    externalUrl: 'https://exporter.example/beaconchain',
    clockOffsetMs: -500,
  };
  const takeSnapshot = () => snapshot;
  const onError = (error: unknown): never => {
    throw error;
  };
  const sections = sectionsOf(ownMetrics(sources), 1_000);
  const exposition = new Exposition(sections, { takeSnapshot, clock, onError, units: METRIC_UNITS });
  await exposition.refresh();
  return (format) => withoutVersions(Buffer.concat(exposition.chunks(format, false)).toString());
}

/** Versions change without any change of the interface. */
function withoutVersions(text: string): string {
  return text.replace(
    /^(beaconchain_exporter_build_info\{).*(\} 1)$/m,
    '$1version="1.2.3",revision="abc",node_version="v24.0.0"$2',
  );
}
