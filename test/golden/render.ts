import { pino } from 'pino';
import { ENDPOINTS, FAILURE_REASONS } from '../../src/api/errors.ts';
import { quotaIn } from '../../src/budget/ledger.ts';
import { RateLimiter } from '../../src/budget/rate-limiter.ts';
import { type Config, defaultConfig } from '../../src/config/config.ts';
import { knowledgeOf, OwnMetrics } from '../../src/exporter/own-metrics.ts';
import { expositionParts } from '../../src/exporter/parts.ts';
import { sourcesOf } from '../../src/exporter/sources.ts';
import { NO_DOCUMENTS } from '../../src/exporter/state.ts';
import type { Format } from '../../src/metrics/encode.ts';
import { Exposition } from '../../src/metrics/exposition.ts';
import { ProcessMetrics, SelfMetrics } from '../../src/metrics/self.ts';
import { Scheduler } from '../../src/scheduler/scheduler.ts';
import { fakeApi } from '../support/fake-api.ts';
import { MINUTE, NOW } from '../support/timing.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { entriesOf, ledger } from './values.ts';

const TERMS = { utilization: 0.9 };

function goldenConfig(): Config {
  const config = defaultConfig();
  return {
    ...config,
    chains: [
      { name: 'mainnet', v1BaseUrl: 'http://localhost' },
      { name: 'hoodi', v1BaseUrl: 'http://localhost/hoodi' },
    ],
    machines: {
      ...config.machines,
      expected: ['node-a', 'missing-1'],
      chainRules: [{ match: 'hoodi-*', chain: 'hoodi' }],
    },
    slashings: {
      ...config.slashings,
      watch: { mainnet: [{ first: 12_345, last: 12_345 }], hoodi: [{ first: 0, last: 99 }] },
    },
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
  const sources = sourcesOf(goldenConfig(), log);
  const rateLimiter = new RateLimiter(TERMS, { clock, ledger });
  const scheduler = new Scheduler(sources, entriesOf(sources), {
    api: fakeApi(() => ({})),
    clock,
    log,
    store: { save: async () => undefined },
    allowance: { bucketOf: () => 'default', allowedPerDay: (bucket) => rateLimiter.allowedPerDay(bucket) },
    quotaOf: (bucket) => quotaIn(rateLimiter.ledger, bucket, TERMS, NOW),
    opensAt: () => 0,
    limits: () => '',
    limitsKnown: () => true,
    onPlan: () => undefined,
    onWait: () => undefined,
    onChange: () => undefined,
  });
  const own = new OwnMetrics({
    knowledge: knowledgeOf(scheduler, rateLimiter),
    isShared: false,
    self: selfMetrics(),
    clock,
    documents: NO_DOCUMENTS,
    totals: [],
    writeFailures: () => 1,
    lastReload: () => ({ isSuccessful: true, successAt: NOW - 5 * MINUTE }),
    processMetrics: new ProcessMetrics(false),
  });
  const parts = expositionParts(
    () => scheduler.views(),
    () => own.families(),
    clock,
  );
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
