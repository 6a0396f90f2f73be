import { describe, expect, it } from 'vitest';
import { emptyEntry, msPerPoll, requestsPerPoll, sourceId, withAnotherKey } from '../../src/scheduler/entry.ts';
import { fakeSource } from '../support/runs/fake-source.ts';

describe('scheduler/entry', () => {
  it('knows what a poll usually costs and takes, from the second poll on, and one unusual poll does not change it', () => {
    const entry = emptyEntry(fakeSource());
    const taken = [[], [90], [90, 70], [70, 80, 900, 75]].map((durations) => msPerPoll({ ...entry, durations }));
    expect(taken).toEqual([0, 0, 70, 75]);
    const costs = [[], [3], [1, 2, 23], [2, 3, 2, 2, 3]].map((last) => requestsPerPoll({ ...entry, costs: last }));
    expect(costs).toEqual([1, 1, 2, 2]);
  });

  it('has neither a wait nor a pause after a failure with another key', () => {
    const failed = { ...emptyEntry(fakeSource()), failuresInARow: 1 };
    expect(withAnotherKey({ ...failed, pausedUntil: 5 })).toEqual({ ...failed, isDueNow: true });
  });

  it('names a source apart from that of another chain', () => {
    expect(sourceId({ name: 'slashings', chain: 'hoodi' })).toBe('slashings-hoodi');
    expect(sourceId({ name: 'slashings', chain: 'mainnet' })).toBe('slashings-mainnet');
    expect(sourceId({ name: 'machines' })).toBe('machines');
  });
});
