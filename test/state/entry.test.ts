import { describe, expect, it } from 'vitest';
import { emptyEntry, mostRequestsPerPoll, msPerPoll, requestsPerPoll, sourceId } from '../../src/state/entry.ts';
import { fakeSource } from '../support/fake-source.ts';

describe('state/entry', () => {
  it('starts with nothing learned and nothing tried', () => {
    const entry = emptyEntry(fakeSource({ empty: 12 }));
    expect(entry).toEqual({ value: 12, failuresInARow: 0, durationMs: 0 });
  });

  it('knows how long a poll takes from the second on, by the lower median, which one slow poll does not change', () => {
    const entry = emptyEntry(fakeSource());
    const taken = [[], [90], [90, 70], [70, 80, 900, 75]].map((durations) => msPerPoll({ ...entry, durations }));
    expect(taken).toEqual([0, 0, 70, 75]);
  });

  it('knows the usual cost of a poll by the lower median, and the most that one of the last polls took', () => {
    const entry = emptyEntry(fakeSource());
    const known = [[], [3], [1, 2, 23], [2, 3, 2, 2, 3]].map((costs) => ({ ...entry, costs }));
    expect(known.map(requestsPerPoll)).toEqual([1, 3, 2, 2]);
    expect(known.map(mostRequestsPerPoll)).toEqual([1, 3, 23, 3]);
  });

  it('names a source apart from that of another chain', () => {
    expect(sourceId({ name: 'slashings', chain: 'hoodi' })).toBe('slashings-hoodi');
    expect(sourceId({ name: 'slashings', chain: 'mainnet' })).toBe('slashings-mainnet');
    expect(sourceId({ name: 'machines' })).toBe('machines');
  });
});
