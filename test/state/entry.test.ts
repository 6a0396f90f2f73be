import { describe, expect, it } from 'vitest';
import { attemptsOf, type Entry, emptyEntry, msPerPoll, sourceId } from '../../src/state/entry.ts';
import { fakeSource } from '../support/fake-source.ts';
import { NOW } from '../support/timing.ts';

describe('state/entry', () => {
  it('starts with nothing learned and nothing tried', () => {
    const entry = emptyEntry(fakeSource({ empty: 12 }));
    expect(entry).toEqual({ value: 12, attempts: 0, failures: 0, failuresInARow: 0, durationMs: 0 });
    expect(attemptsOf(entry)).toEqual({
      lastAttemptAt: undefined,
      lastSuccessAt: undefined,
      failing: false,
      durationMs: 0,
    });
  });

  it('tells a source how its attempts went', () => {
    const entry: Entry = {
      value: 1,
      attempts: 5,
      failures: 2,
      failuresInARow: 1,
      lastAttemptAt: NOW,
      lastSuccessAt: NOW - 1,
      durationMs: 3,
    };
    expect(attemptsOf(entry)).toEqual({ lastAttemptAt: NOW, lastSuccessAt: NOW - 1, failing: true, durationMs: 3 });
  });

  it('knows what a poll takes from the second on, and by the lower median, which one slow poll does not change', () => {
    const entry = emptyEntry(fakeSource());
    const taken = [[], [90], [90, 70], [90, 70, 80], [70, 80, 900, 75]].map((durations) =>
      msPerPoll({ ...entry, durations }),
    );
    expect(taken).toEqual([0, 0, 70, 80, 75]);
  });

  it('names a source apart from that of another chain', () => {
    expect(sourceId({ name: 'slashings', chain: 'hoodi' })).toBe('slashings-hoodi');
    expect(sourceId({ name: 'slashings', chain: 'mainnet' })).toBe('slashings-mainnet');
    expect(sourceId({ name: 'machines' })).toBe('machines');
  });
});
