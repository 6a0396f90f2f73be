import { describe, expect, it } from 'vitest';
import { EMPTY_BUCKET } from '../../src/budget/bucket.ts';
import { emptyLedger } from '../../src/budget/ledger.ts';
import type { Chain } from '../../src/lib/chain.ts';
import type { Family } from '../../src/metrics/family.ts';
import type { SourceName } from '../../src/sources/source.ts';
import { statusOf } from '../../src/status.ts';
import { failed } from '../support/fake-api.ts';
import { fakeSource } from '../support/fake-source.ts';
import { schedule } from '../support/scheduler-harness.ts';
import { NOW } from '../support/timing.ts';

const CONTEXT = { now: NOW, telemetryPath: '/metrics' };

/** A source that shows these series. */
function showing(
  name: SourceName,
  chain: Chain | undefined,
  series: readonly [string, Record<string, string>, number][],
) {
  return fakeSource({
    name,
    ...(chain ? { chain } : {}),
    families: () =>
      series.map(
        ([family, labels, value]): Family => ({
          name: `beaconchain_${family}`,
          type: 'gauge',
          help: '',
          samples: [{ labels, value }],
        }),
      ),
  });
}

describe('status', () => {
  it('tells of each source how it stands, and the error only while it lasts', async () => {
    let isBroken = true;
    const request = { endpoint: 'epoch_slots', priority: 'head_pass', path: '/' } as const;
    const source = fakeSource({
      name: 'slashings',
      chain: 'hoodi',
      poll: (value) => (isBroken ? { value, failure: failed(request, 'timeout') } : { value }),
    });
    const { clock, scheduler } = schedule([source]);
    await clock.advance(0);
    const [down] = statusOf(scheduler.views(), emptyLedger(), CONTEXT).sources;
    expect(down).toEqual({
      name: 'slashings',
      chain: 'hoodi',
      up: false,
      lastSuccessAt: undefined,
      nextAttemptAt: NOW + 60_000,
      intervalMs: 60_000,
      error: 'epoch_slots: timeout (made up)',
    });
    isBroken = false;
    await clock.advance(60_000);
    const [up] = statusOf(scheduler.views(), emptyLedger(), CONTEXT).sources;
    expect(up).toMatchObject({ up: true, lastSuccessAt: NOW + 60_000, error: undefined });
  });

  it('shows each machine once, by its newest record, and those never seen', () => {
    const seen = 'machine_last_seen_timestamp_seconds';
    const machine = { chain: 'mainnet', machine: 'node-a' };
    const source = fakeSource({
      families: () => [
        {
          name: `beaconchain_${seen}`,
          type: 'gauge',
          help: '',
          samples: [
            { labels: { ...machine, process: 'system' }, value: 5 },
            { labels: { ...machine, process: 'node' }, value: 7 },
            { labels: { chain: 'hoodi', machine: 'missing', process: 'system' }, value: 0 },
          ],
        },
      ],
    });
    const { scheduler } = schedule([source]);
    expect(statusOf(scheduler.views(), emptyLedger(), CONTEXT).machines).toEqual([
      { name: 'node-a', chain: 'mainnet', lastSeenAt: 7_000 },
      { name: 'missing', chain: 'hoodi', lastSeenAt: undefined },
    ]);
  });

  it('counts slashings per chain', () => {
    const sources = (['mainnet', 'hoodi'] as const).map((chain, i) =>
      showing('slashings', chain, [
        ['attester_slashings_total', { chain, kind: 'double_vote' }, 2 + i],
        ...(i === 0
          ? [['last_attester_slashing_timestamp_seconds', { chain }, 9] as [string, Record<string, string>, number]]
          : []),
      ]),
    );
    const { scheduler } = schedule(sources);
    expect(statusOf(scheduler.views(), emptyLedger(), CONTEXT).slashings).toEqual([
      { chain: 'mainnet', count: 2, lastAt: 9_000 },
      { chain: 'hoodi', count: 3, lastAt: undefined },
    ]);
  });

  it('shows the windows that are limits', () => {
    const bucket = { ...EMPTY_BUCKET, limits: { second: 1, hour: 1, month: 1_000 }, remaining: { month: 12 } };
    const ledger = { ...emptyLedger(), buckets: { default: bucket } };
    expect(statusOf([], ledger, CONTEXT).budget).toEqual([
      { bucket: 'default', window: 'second', limit: 1, left: '' },
      { bucket: 'default', window: 'month', limit: 1_000, left: '12' },
    ]);
  });
});
