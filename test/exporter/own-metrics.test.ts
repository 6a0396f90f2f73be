import { beforeEach, describe, expect, it } from 'vitest';
import { ENDPOINT_NAMES } from '../../src/api/endpoints.ts';
import { FAILURE_REASONS } from '../../src/api/errors.ts';
import { OwnMetrics } from '../../src/exporter/own-metrics.ts';
import { encodeFamilies } from '../support/exposition/encode.ts';

const SOURCES = [{ source: 'machines' }, { source: 'slashings', chain: 'hoodi' }];

let own: OwnMetrics;

beforeEach(() => {
  own = new OwnMetrics(false);
  own.expect(ENDPOINT_NAMES, SOURCES);
});

/** The lines of all counts, without the prefix. */
async function counts(): Promise<string[]> {
  const text = encodeFamilies(await own.families(), 'text').replaceAll('beaconchain_', '');
  return text.match(/^\w+_(?:total|count)\b.*$/gm) ?? [];
}

describe('exporter/own-metrics', () => {
  it('shows every series from the start at 0, so that the first event of each is an increase', async () => {
    const expected = [
      ...ENDPOINT_NAMES.flatMap((endpoint) => [
        ...['requests_total', 'invalid_records_total', 'request_duration_seconds_count'].map(
          (name) => `api_${name}{endpoint="${endpoint}"} 0`,
        ),
        ...FAILURE_REASONS.map((reason) => `api_request_failures_total{endpoint="${endpoint}",reason="${reason}"} 0`),
      ]),
      ...['source="machines"', 'source="slashings",chain="hoodi"'].flatMap((labels) => [
        `source_attempts_total{${labels}} 0`,
        `source_failures_total{${labels}} 0`,
      ]),
      'budget_wait_seconds_total 0',
      'exporter_state_write_failures_total 0',
    ];
    expect((await counts()).sort()).toEqual(expected.sort());
  });

  it('counts each event in its series, and a reload resets none of them', async () => {
    own.requested('epoch_slots');
    own.requested('epoch_slots');
    own.failed({ endpoint: 'epoch_slots', reason: 'timeout' });
    own.took('epoch_slots', 0.3);
    own.invalidRecords('machine_metrics', 3);
    own.ran({ source: 'machines' }, false);
    own.ran({ source: 'slashings', chain: 'hoodi' }, true);
    own.waited(1.5);
    own.stateWriteFailed();
    own.expect(ENDPOINT_NAMES, SOURCES);
    expect((await counts()).filter((line) => !line.endsWith(' 0'))).toEqual([
      'api_requests_total{endpoint="epoch_slots"} 2',
      'api_request_failures_total{endpoint="epoch_slots",reason="timeout"} 1',
      'api_invalid_records_total{endpoint="machine_metrics"} 3',
      'api_request_duration_seconds_count{endpoint="epoch_slots"} 1',
      'source_attempts_total{source="machines"} 1',
      'source_attempts_total{source="slashings",chain="hoodi"} 1',
      'source_failures_total{source="slashings",chain="hoodi"} 1',
      'budget_wait_seconds_total 1.5',
      'exporter_state_write_failures_total 1',
    ]);
  });

  it('shows metrics of the process only if asked to, under names that promtool accepts', async () => {
    const names = (await new OwnMetrics(true).families()).map(({ name }) => name);
    const expected = ['process_cpu_seconds_total', 'nodejs_eventloop_lag_seconds', 'nodejs_active_resources'];
    expect(names).toEqual(expect.arrayContaining(expected));
    expect(names.filter((name) => /^nodejs_active_\w+_total$/.test(name))).toEqual([]);
    const without = (await own.families()).map(({ name }) => name);
    expect(without.filter((name) => !name.startsWith('beaconchain_'))).toEqual([]);
  });
});
