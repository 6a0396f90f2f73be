import { describe, expect, it } from 'vitest';
import { emptyEntry, msPerPoll, requestsPerPoll, sourceId, spareRequests } from '../../src/state/entry.ts';
import { fakeSource } from '../support/fake-source.ts';

describe('state/entry', () => {
  it('starts with nothing learned and nothing tried', () => {
    const entry = emptyEntry(fakeSource({ empty: 12 }));
    expect(entry).toEqual({ value: 12, attempts: 0, failures: 0, failuresInARow: 0, durationMs: 0 });
  });

  it('knows what a poll takes from the second on, and by the lower median, which one slow poll does not change', () => {
    const entry = emptyEntry(fakeSource());
    const taken = [[], [90], [90, 70], [90, 70, 80], [70, 80, 900, 75]].map((durations) =>
      msPerPoll({ ...entry, durations }),
    );
    expect(taken).toEqual([0, 0, 70, 80, 75]);
  });

  it('knows the usual cost of a poll by the lower median, and what one of the last polls took beyond it', () => {
    const entry = emptyEntry(fakeSource());
    const known = [[], [3], [1, 2, 23], [2, 3, 2, 2, 3]].map((costs) => ({ ...entry, costs }));
    expect(known.map(requestsPerPoll)).toEqual([1, 3, 2, 2]);
    expect(known.map(spareRequests)).toEqual([0, 0, 21, 1]);
  });

  it('names a source apart from that of another chain', () => {
    expect(sourceId({ name: 'slashings', chain: 'hoodi' })).toBe('slashings-hoodi');
    expect(sourceId({ name: 'slashings', chain: 'mainnet' })).toBe('slashings-mainnet');
    expect(sourceId({ name: 'machines' })).toBe('machines');
  });
});
