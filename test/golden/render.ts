import { pino } from 'pino';
import { ENDPOINTS, FAILURE_REASONS } from '../../src/api/errors.ts';
import type { Config } from '../../src/config/config.ts';
import { SchemaDrift } from '../../src/exporter/drift.ts';
import { ownFamilies } from '../../src/exporter/own-families.ts';
import { expositionParts } from '../../src/exporter/parts.ts';
import { viewsOf } from '../../src/exporter/picture.ts';
import { sourcesOf } from '../../src/exporter/sources.ts';
import type { Format } from '../../src/metrics/encode.ts';
import { Exposition } from '../../src/metrics/exposition.ts';
import { SelfMetrics } from '../../src/metrics/self.ts';
import { BOTH_CHAINS, defaultConfig } from '../support/default-config.ts';
import { MINUTE, NOW } from '../support/timing.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { entriesOf, ledger } from './values.ts';

const BUDGET_OPTIONS = { utilization: 0.9 };

function goldenConfig(): Config {
  const config = defaultConfig();
  return {
    ...config,
    ...BOTH_CHAINS,
    machines: {
      ...config.machines,
      expected: ['node-a', 'missing-1'],
      chainRules: [{ match: 'hoodi-*', chain: 'hoodi' }],
    },
    slashings: {
      ...config.slashings,
      watch: { mainnet: [{ first: 12_345, last: 12_345 }], hoodi: [{ first: 0, last: 99 }] },
    },
    syncCommittee: { ...config.syncCommittee, members: true },
  };
}

function selfMetrics(): SelfMetrics {
  const self = new SelfMetrics({ endpoints: ENDPOINTS, reasons: FAILURE_REASONS });
  for (const [endpoint, seconds] of [
    ['machine_metrics', 0.0625],
    ['machine_metrics', 0.5],
    ['epoch_slots', 20],
  ] as const) {
    self.requested(endpoint);
    self.took(endpoint, seconds);
  }
  self.failed({ endpoint: 'epoch_slots', reason: 'timeout' });
  self.invalidRecords('machine_metrics', 2);
  return self;
}

/** The exposition of the parts as the daemon puts them together, of fixed values at a fixed time. */
export async function renderGolden(): Promise<(format: Format) => string> {
  const log = pino({ level: 'silent' });
  const clock = new VirtualClock(NOW);
  const sources = sourcesOf(goldenConfig(), log, NOW);
  const state = { ledger, entries: entriesOf(sources), totals: await selfMetrics().totals() };
  const options = { sources, budgetOptions: BUDGET_OPTIONS, routeOf: () => 'any' };
  const views = () => viewsOf(state, options, NOW);
  const drift = new SchemaDrift(clock, log);
  drift.note('sync_committee', { data: { period: 1700, colour: 'red' }, range: {} });
  const own = async () =>
    ownFamilies(state, views(), {
      budgetOptions: BUDGET_OPTIONS,
      now: NOW,
      lastReload: { isSuccessful: true, successAt: NOW - 5 * MINUTE },
      stateWriteFailures: 1,
      drift: drift.samples(ENDPOINTS),
      isLeader: true,
      isShared: false,
    });
  const parts = expositionParts(views, own, clock, 1_000);
  const exposition = new Exposition(parts, clock, (error) => {
    throw error;
  });
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
