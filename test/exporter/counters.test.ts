import { describe, expect, it } from 'vitest';
import { Counters } from '../../src/exporter/counters.ts';
import { STATE_WRITE_FAILURES } from '../../src/exporter/own-families.ts';
import { requestFamilies } from '../../src/metrics/self.ts';
import { defaultConfig } from '../support/default-config.ts';
import { sampleValue } from '../support/samples.ts';
import { NOW } from '../support/timing.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const ENDPOINT = 'machine_metrics';

describe('exporter/counters', () => {
  function setUp(save: () => Promise<void>, isShared = false) {
    const clock = new VirtualClock(NOW);
    const others = () => (isShared ? {} : { [STATE_WRITE_FAILURES]: counters.writeFailures });
    const counters: Counters = new Counters({ config: defaultConfig(), earlier: [], others, save, clock });
    const self = counters.requests;
    const written = async () => {
      await counters.write();
      return counters.shown;
    };
    const requests = async () =>
      sampleValue(requestFamilies(await written()), 'beaconchain_api_requests_total', { endpoint: ENDPOINT });
    const failures = () => counters.write();
    return { clock, self, counters, written, requests, failures };
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

  it('passes on what was written in the end, however slowly', async () => {
    const written: (() => void)[] = [];
    const { clock, self, counters, requests } = setUp(() => new Promise((resolve) => written.push(resolve)));
    const first = requests();
    await clock.advance(1);
    written.shift()?.();
    await first;
    self.requested(ENDPOINT);
    const finished = counters.finish();
    await clock.advance(1_000);
    written.shift()?.();
    expect(sampleValue(requestFamilies(await finished), 'beaconchain_api_requests_total', { endpoint: ENDPOINT })).toBe(
      1,
    );
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
    const { self, written } = setUp(async () => {
      if (isAway) throw new Error('away');
    }, true);
    const counted = async () => (await written()).find(({ name }) => name === 'beaconchain_api_requests_total');
    self.requested(ENDPOINT);
    expect((await counted())?.samples).toContainEqual({ labels: { endpoint: ENDPOINT }, value: 1 });
    isAway = true;
    self.requested(ENDPOINT);
    expect((await counted())?.samples).toContainEqual({ labels: { endpoint: ENDPOINT }, value: 1 });
    expect((await written()).map(({ name }) => name)).not.toContain('beaconchain_exporter_state_write_failures_total');
  });
});
