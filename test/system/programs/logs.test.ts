import { describe, expect, it } from 'vitest';
import { logPlan } from '../../../src/exporter/plan-log.ts';
import { logSlashing } from '../../../src/exporter/slashing-log.ts';
import type { Pace, Source } from '../../../src/sources/source.ts';
import { fakeSource } from '../../support/fake-source.ts';
import { logLines } from '../../support/log-lines.ts';
import { MINUTE } from '../../support/timing.ts';

describe('slashing-log', () => {
  const watch = [{ first: 50, last: 59 }];
  const MANY = Array.from({ length: 60 }, (_, i) => i);

  it('warns of a slashing, with chain, slot, kind and validators', () => {
    const { log, lines } = logLines();
    logSlashing(log, 'hoodi', watch, { slot: 7, kind: 'double_vote', validators: [1, 2] });
    expect(lines).toEqual([
      {
        level: 'warn',
        chain: 'hoodi',
        slot: 7,
        kind: 'double_vote',
        validators: [1, 2],
        count: 2,
        watched: 0,
        msg: 'attester slashing',
      },
    ]);
  });

  it('calls one of a watched validator an error, and names those first of twenty', () => {
    const { log, lines } = logLines();
    logSlashing(log, 'mainnet', watch, { slot: 7, kind: 'surround_vote', validators: MANY });
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'error',
        msg: 'watched validator slashed',
        validators: [...MANY.slice(50), ...MANY.slice(0, 10)],
        count: 60,
        watched: 10,
      }),
    ]);
  });
});

describe('plan-log', () => {
  function planned(...paces: readonly [Source, Pace][]): Record<string, unknown>[] {
    const { log, lines } = logLines();
    logPlan(log, new Map(paces));
    return lines;
  }
  const machines = fakeSource();
  const slashings = fakeSource({ name: 'slashings', chain: 'mainnet' });

  it('tells in one line what runs how often and what it costs', () => {
    const lines = planned(
      [machines, { intervalMs: MINUTE, requestsPerDay: 1_440, coverage: 'full' }],
      [slashings, { intervalMs: MINUTE, requestsPerDay: 1_890.2, coverage: 'full' }],
    );
    expect(lines).toEqual([
      {
        level: 'info',
        intervals: { machines: '1m', 'slashings-mainnet': '1m' },
        requests_per_day: 3_331,
        msg: 'the budget allows the configured intervals',
      },
    ]);
  });

  it('warns where intervals are stretched, and says what is given up', () => {
    const [line] = planned(
      [machines, { intervalMs: 90 * MINUTE, requestsPerDay: 16, coverage: 'full' }],
      [slashings, { intervalMs: 61.4 * MINUTE, requestsPerDay: 23, coverage: 'sampled' }],
    );
    expect(line).toMatchObject({ level: 'warn', requests_per_day: 39 });
    expect(line?.['intervals']).toEqual({
      machines: expect.stringMatching(/^(90m|1h30m)$/),
      'slashings-mainnet': expect.stringMatching(/\(newest finalized epoch only, the others are skipped\)$/),
    });
  });
});
