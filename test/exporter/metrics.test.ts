import { describe, expect, it } from 'vitest';
import { EMPTY_BUCKET } from '../../src/budget/bucket.ts';
import { emptyLedger, type Ledger } from '../../src/budget/ledger.ts';
import { accountFamilies, sourceFamilies } from '../../src/exporter/metrics.ts';
import { type Entry, emptyEntry } from '../../src/scheduler/entry.ts';
import { samplesOf, sampleValue } from '../support/exposition/samples.ts';
import { fakeSource } from '../support/runs/fake-source.ts';
import { entryOf } from '../support/runs/known.ts';
import { NO_QUOTA, schedule } from '../support/runs/scheduler-harness.ts';
import { DAY, HOUR, MINUTE, NOW } from '../support/time/timing.ts';

function ledgerWith(key: Partial<Ledger['key']>, buckets: Ledger['buckets'] = {}): Ledger {
  const ledger = emptyLedger();
  return { ...ledger, buckets, key: { ...ledger.key, ...key } };
}

describe('exporter/metrics', () => {
  it.each([
    ['before the first response', { standing: 'unknown' }, undefined, 0],
    ['a good key', { standing: 'valid' }, 1, 0],
    ['a key refused with 401', { standing: 'refused' }, 0, 0],
    ['a key that a header calls bad', { standing: 'valid', validHeader: false }, 0, 0],
    ['revoked access with a key that is still one', { standing: 'revoked', validHeader: true }, 1, 1],
  ] as const)('%s', (_name, key, valid, revoked) => {
    const families = accountFamilies(ledgerWith(key));
    expect(sampleValue(families, 'beaconchain_api_key_valid')).toBe(valid);
    expect(sampleValue(families, 'beaconchain_api_access_revoked')).toBe(revoked);
  });

  it('show what others used of a window, if the answers say so', () => {
    const window = { limit: 1_000, own: 100, since: NOW };
    const limits = { second: 5, hour: 1_000, month: 1_000 };
    const second = {
      ...EMPTY_BUCKET,
      limits,
      hour: { ...window, remaining: 897 },
      month: { ...window, remaining: 900 },
    };
    const buckets = {
      first: { ...EMPTY_BUCKET, limits, month: window },
      second,
      paid: { ...EMPTY_BUCKET, limits: { second: 5, hour: 5, month: 5 } },
    };
    const families = accountFamilies(ledgerWith({}, buckets));
    expect(samplesOf(families, 'beaconchain_ratelimit_used_by_others')).toEqual([
      { labels: { bucket: 'second', window: 'hour' }, value: 3 },
      { labels: { bucket: 'second', window: 'month' }, value: 0 },
    ]);
  });

  it('have every series of a source from the start, at 0 and not up', () => {
    const source = fakeSource({ name: 'slashings', chain: 'hoodi' });
    const { views } = schedule([source], { keyAt: () => Number.POSITIVE_INFINITY });
    const families = sourceFamilies(views());
    const labels = { source: 'slashings', chain: 'hoodi' };
    for (const { name, samples } of families) {
      const values: Record<string, number> = {
        beaconchain_source_interval_seconds: 60,
        beaconchain_source_next_attempt_timestamp_seconds: Infinity,
      };
      // This source has no parts, and no answer of a known age.
      const isEmpty = ['beaconchain_source_part_refused', 'beaconchain_service_behind_seconds'].includes(name);
      expect(samples, name).toEqual(isEmpty ? [] : [{ labels, value: values[name] ?? 0 }]);
    }
  });

  it('show until when a source waits for the quota, and that the source is up', () => {
    const source = fakeSource();
    const until = NOW + 9 * DAY;
    const entry = entryOf(source, { lastAttemptAt: NOW - MINUTE, intervalMs: 5 * MINUTE });
    const { views } = schedule([source], {
      entries: new Map([['machines', entry]]),
      allowedPerDay: () => 0,
      quotaOf: () => ({ ...NO_QUOTA, closedUntil: until, left: 0, resetsAt: until, end: until }),
    });
    const families = sourceFamilies(views());
    const value = (name: string): number | undefined => sampleValue(families, `beaconchain_source_${name}`);
    expect(value('quota_wait_end_timestamp_seconds')).toBe(until / 1000);
    expect(value('next_attempt_timestamp_seconds')).toBe(until / 1000);
    expect([value('interval_seconds'), value('up')]).toEqual([300, 1]);
  });

  it('call a source up if no read failed at its last attempt, and show the times of the first read', () => {
    const source = fakeSource({ reads: [{ name: 'head' }, { name: 'finalized' }] });
    const values = (failures: readonly number[]): (number | undefined)[] => {
      const [head, finalized] = failures.map((failuresInARow, i) => {
        const lastAttemptAt = NOW - i * MINUTE;
        return { durationMs: 5, failuresInARow, lastAttemptAt, lastSuccessAt: lastAttemptAt + 5 };
      });
      const entries = new Map([['machines', { ...emptyEntry(source), reads: { head, finalized } as Entry['reads'] }]]);
      const families = sourceFamilies(schedule([source], { entries }).views());
      return ['up', 'last_attempt_timestamp_seconds', 'last_success_timestamp_seconds'].map((name) =>
        sampleValue(families, `beaconchain_source_${name}`),
      );
    };
    const times = [NOW / 1000, (NOW + 5) / 1000];
    expect([values([0, 0]), values([1, 0]), values([0, 1])]).toEqual([
      [1, ...times],
      [0, ...times],
      [0, ...times],
    ]);
  });

  it('call a source up whose reads are all refused', () => {
    const source = fakeSource({ reads: [{ name: 'duties', endpoints: ['network_performance'] }] });
    const refusals = { network: { reason: 'forbidden', attempts: 2, firstAt: NOW - HOUR, lastAt: NOW } };
    const reads = { duties: { durationMs: 5, failuresInARow: 0, lastAttemptAt: NOW } };
    const views = schedule([source]).views();
    const families = sourceFamilies(views.map((view) => ({ ...view, entry: { ...view.entry, reads, refusals } })));
    expect(sampleValue(families, 'beaconchain_source_up')).toBe(1);
  });
});
