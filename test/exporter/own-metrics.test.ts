import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { emptyLedger } from '../../src/budget/ledger.ts';
import { RateLimiter } from '../../src/budget/rate-limiter.ts';
import { knowledgeOf, OwnMetrics } from '../../src/exporter/own-metrics.ts';
import { NO_DOCUMENTS } from '../../src/exporter/state.ts';
import { ProcessMetrics, SelfMetrics } from '../../src/metrics/self.ts';
import { Scheduler } from '../../src/scheduler/scheduler.ts';
import { fakeApi } from '../support/fake-api.ts';
import { NO_QUOTA } from '../support/quota.ts';
import { sampleValue } from '../support/samples.ts';
import { NOW } from '../support/timing.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const ENDPOINT = 'machine_metrics';

describe('exporter/own-metrics', () => {
  function setUp(save: () => Promise<void>, isShared = false) {
    const clock = new VirtualClock(NOW);
    const rateLimiter = new RateLimiter({ utilization: 0.9 }, { clock, ledger: emptyLedger() });
    const self = new SelfMetrics({ endpoints: [ENDPOINT], reasons: [] });
    const scheduler = new Scheduler([], new Map(), {
      api: fakeApi(() => ({})),
      clock,
      log: pino({ level: 'silent' }),
      store: { save: async () => undefined },
      allowance: { bucketOf: () => '', allowedPerDay: () => 1 },
      quotaOf: () => NO_QUOTA,
      opensAt: () => 0,
      limits: () => '',
      limitsKnown: () => true,
      onPlan: () => undefined,
      onWait: () => undefined,
      onChange: () => undefined,
    });
    const documents = { ...NO_DOCUMENTS, save };
    const knowledge = knowledgeOf(scheduler, rateLimiter);
    const options = { knowledge, self, clock, documents, totals: [], writeFailures: () => 0, isShared };
    const own = new OwnMetrics({
      ...options,
      lastReload: () => ({ isSuccessful: true, successAt: NOW }),
      processMetrics: new ProcessMetrics(false),
    });
    const requests = async () =>
      sampleValue(await own.families(), 'beaconchain_api_requests_total', { endpoint: ENDPOINT });
    const failures = async () =>
      sampleValue(await own.families(), 'beaconchain_exporter_state_write_failures_total', {});
    return { clock, self, own, requests, failures };
  }

  it('shows a counter only when it was written', async () => {
    const written: (() => void)[] = [];
    const { clock, self, requests } = setUp(() => new Promise((resolve) => written.push(resolve)));
    const first = requests();
    await clock.advance(1);
    written.shift()?.();
    expect(await first).toBe(0);
    self.requested(ENDPOINT);
    const during = requests();
    await clock.advance(501);
    expect(await during).toBe(0);
    written.shift()?.();
    await clock.advance(1);
    expect(await requests()).toBe(1);
  });

  it('is complete from the start, does not wait for a disk that hangs, and catches up when it is back', async () => {
    const written: (() => void)[] = [];
    const { clock, self, requests } = setUp(() => new Promise((resolve) => written.push(resolve)));
    const hanging = requests();
    await clock.advance(501);
    expect(await hanging).toBe(0);
    self.requested(ENDPOINT);
    const still = requests();
    await clock.advance(501);
    expect(await still).toBe(0);
    expect(written).toHaveLength(1);
    written.shift()?.();
    await clock.advance(1);
    const next = requests();
    await clock.advance(1);
    written.shift()?.();
    expect(await next).toBe(1);
  });

  it('does not show what cannot be written, but that it cannot', async () => {
    let isFull = false;
    const { self, requests, failures } = setUp(async () => {
      if (isFull) throw new Error('disk full');
    });
    self.requested(ENDPOINT);
    expect(await requests()).toBe(1);
    isFull = true;
    self.requested(ENDPOINT);
    expect(await requests()).toBe(1);
    expect(await failures()).toBe(1);
    isFull = false;
    expect(await requests()).toBe(2);
  });

  it('among replicas a counter that could not be written is not shown, and is written again', async () => {
    let isAway = true;
    const { self, requests } = setUp(async () => {
      if (isAway) throw new Error('away');
    }, true);
    expect(await requests()).toBe(0);
    self.requested(ENDPOINT);
    expect(await requests()).toBe(0);
    isAway = false;
    expect(await requests()).toBe(1);
  });

  it('among replicas what was written is handed over, and nothing else', async () => {
    let isAway = false;
    const { self, own } = setUp(async () => {
      if (isAway) throw new Error('away');
    }, true);
    const counted = async () => (await own.totals()).find(({ name }) => name === 'beaconchain_api_requests_total');
    self.requested(ENDPOINT);
    expect((await counted())?.samples).toContainEqual({ labels: { endpoint: ENDPOINT }, value: 1 });
    isAway = true;
    self.requested(ENDPOINT);
    expect((await counted())?.samples).toContainEqual({ labels: { endpoint: ENDPOINT }, value: 1 });
    expect((await own.totals()).map(({ name }) => name)).not.toContain(
      'beaconchain_exporter_state_write_failures_total',
    );
  });
});
