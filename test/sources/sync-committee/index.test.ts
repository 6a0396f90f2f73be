import { describe, expect, it } from 'vitest';
import { type SyncCommittee, syncCommitteeSource } from '../../../src/sources/sync-committee/index.ts';
import { answering } from '../../support/answers/fake-api.ts';
import { entryWith, round, scheduleAt } from '../../support/runs/round.ts';
import { HOUR, MINUTE, NOW } from '../../support/time/timing.ts';

const SOURCE = syncCommitteeSource('mainnet', HOUR);

/** 2026-03-19 17:20:23 UTC, the start of mainnet period 1700 (api-facts 4). */
const START = 1606824023 + 435200 * 384;
const END_1700 = (START + 98_304) * 1000;

function answer(period: number): unknown {
  const start = START + (period - 1700) * 98_304;
  return {
    data: { period, finality: 'not_finalized' },
    range: {
      slot: { start: period * 8192, end: period * 8192 + 8191 },
      epoch: { start: period * 256, end: period * 256 + 255 },
      timestamp: { start, end: start + 98_304 },
    },
  };
}

function read(body: unknown, before: SyncCommittee = {}, now = NOW) {
  return round(SOURCE, answering(body), entryWith(SOURCE, before), { now });
}

describe('sources/sync-committee', () => {
  it('ignores a period that goes back', async () => {
    const { value } = await read(answer(1700));
    expect((await read(answer(1699), value)).value).toEqual(value);
    expect((await read(answer(1701), value)).value.period?.number).toBe(1701);
  });

  // The last cannot have begun: no later period would ever replace it.
  it.each([{}, { data: null, range: null }, { data: { period: '1700' } }, { data: [] }, answer(9999)])(
    'takes %j for a failure',
    async (body) => {
      const { failure, value } = await read(body);
      expect(failure).toMatchObject({ name: 'RequestFailed', reason: 'invalid_body' });
      expect(value.period).toBeUndefined();
    },
  );

  it('is due five minutes after the end of the period', async () => {
    const now = END_1700 - 20 * HOUR;
    const { entry } = await read(answer(1700), {}, now);
    expect(scheduleAt(SOURCE, entry, now).first.nextAttemptAt).toBe(END_1700 + 5 * MINUTE);
  });
});
