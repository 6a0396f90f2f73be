import { beforeEach, describe, expect, it } from 'vitest';
import { ENDPOINT_NAMES } from '../../src/api/endpoints.ts';
import { FAILURE_REASONS } from '../../src/api/errors.ts';
import { OwnMetrics } from '../../src/exporter/own-metrics.ts';
import { samplesOf, sampleValue } from '../support/exposition/samples.ts';

const SOURCES = [{ source: 'machines' }, { source: 'slashings', chain: 'hoodi' }];

let own: OwnMetrics;

beforeEach(() => {
  own = new OwnMetrics(false);
  own.expect(ENDPOINT_NAMES, SOURCES);
});

describe('metrics/self', () => {
  it('has every endpoint and reason from the start, at 0, so that the first of each is an increase', async () => {
    const families = await own.families();
    for (const endpoint of ENDPOINT_NAMES) {
      expect(sampleValue(families, 'beaconchain_api_requests_total', { endpoint })).toBe(0);
      expect(sampleValue(families, 'beaconchain_api_invalid_records_total', { endpoint })).toBe(0);
    }
    const durations = samplesOf(families, 'beaconchain_api_request_duration_seconds');
    expect(durations.filter(({ suffix }) => suffix === '_count').map(({ value }) => value)).toEqual(
      ENDPOINT_NAMES.map(() => 0),
    );
    const failures = samplesOf(families, 'beaconchain_api_request_failures_total');
    expect(failures).toEqual(
      ENDPOINT_NAMES.flatMap((endpoint) =>
        FAILURE_REASONS.map((reason) => ({ labels: { endpoint, reason }, value: 0 })),
      ),
    );
  });

  it('counts by endpoint, and failures by reason', async () => {
    own.requested('epoch_slots');
    own.requested('epoch_slots');
    own.failed({ endpoint: 'epoch_slots', reason: 'timeout' });
    own.invalidRecords('machine_metrics', 3);
    const families = await own.families();
    expect(sampleValue(families, 'beaconchain_api_requests_total', { endpoint: 'epoch_slots' })).toBe(2);
    expect(sampleValue(families, 'beaconchain_api_invalid_records_total', { endpoint: 'machine_metrics' })).toBe(3);
    const failures = samplesOf(families, 'beaconchain_api_request_failures_total');
    expect(failures.filter(({ value }) => value > 0)).toEqual([
      { labels: { endpoint: 'epoch_slots', reason: 'timeout' }, value: 1 },
    ]);
  });

  it('counts the attempts at the reads of each source from 0, with its chain if it is of one', async () => {
    own.ran({ source: 'machines' }, false);
    own.ran({ source: 'slashings', chain: 'hoodi' }, true);
    // A reload expects the series again.
    own.expect(ENDPOINT_NAMES, SOURCES);
    const families = await own.families();
    const values = (name: string): unknown[] =>
      samplesOf(families, `beaconchain_source_${name}`).map(({ labels, value }) => [labels, value]);
    expect(values('attempts_total')).toEqual([
      [{ source: 'machines' }, 1],
      [{ source: 'slashings', chain: 'hoodi' }, 1],
    ]);
    expect(values('failures_total')).toEqual([
      [{ source: 'machines' }, 0],
      [{ source: 'slashings', chain: 'hoodi' }, 1],
    ]);
  });

  it('counts waits and failed writes from 0', async () => {
    const values = async (): Promise<unknown[]> => {
      const families = await own.families();
      return ['budget_wait_seconds_total', 'exporter_state_write_failures_total'].map((name) =>
        sampleValue(families, `beaconchain_${name}`),
      );
    };
    expect(await values()).toEqual([0, 0]);
    own.waited(1.5);
    own.stateWriteFailed();
    expect(await values()).toEqual([1.5, 1]);
  });

  it('has metrics of the process only where they are wanted, and none that breaks the rules of names', async () => {
    const names = (await new OwnMetrics(true).families()).map(({ name }) => name);
    expect(names).toContain('process_cpu_seconds_total');
    expect(names).toContain('nodejs_eventloop_lag_seconds');
    expect(names).toContain('nodejs_active_resources');
    expect(names.filter((name) => /^nodejs_active_\w+_total$/.test(name))).toEqual([]);
    const without = (await new OwnMetrics(false).families()).map(({ name }) => name);
    expect(without.filter((name) => !name.startsWith('beaconchain_'))).toEqual([]);
  });
});
