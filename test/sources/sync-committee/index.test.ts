import { describe, expect, it } from 'vitest';
import { periodAnswer } from '../../../src/sandbox/sync-committee.ts';
import { type SyncCommittee, syncCommitteeSource } from '../../../src/sources/sync-committee/index.ts';
import { answering } from '../../support/answers/fake-api.ts';
import { entryWith, round, scheduleAt } from '../../support/runs/round.ts';
import { HOUR, MINUTE, NOW } from '../../support/time/timing.ts';

const SOURCE = syncCommitteeSource('mainnet', HOUR);

/** The end of mainnet period 1700 (api-facts 4). */
const END_1700 = Date.UTC(2026, 2, 20, 20, 38, 47);

function answer(period: number): unknown {
  return periodAnswer('mainnet', period);
}

function read(body: unknown, before: SyncCommittee = {}, now = NOW) {
  return round(SOURCE, answering(body), entryWith(SOURCE, before), { now });
}

describe('sources/sync-committee', () => {
  // The last period cannot have begun, so no later one would ever replace it.
  it.each([{}, { data: null, range: null }, { data: { period: '1700' } }, { data: [] }, answer(9999)])(
    'fails with the answer %j',
    async (body) => {
      const { failure, value } = await read(body);
      expect(failure).toMatchObject({ name: 'RequestFailed', reason: 'invalid_body' });
      expect(value.period).toBeUndefined();
    },
  );

  it.each([null, undefined, 'x', { epoch: 'x', timestamp: { start: 5, end: 2 ** 64 } }])(
    'shows the period if its range is %j',
    async (range) => {
      const { failure, value } = await read({ ...(answer(1700) as object), range });
      expect([failure, value.period?.number]).toEqual([undefined, 1700]);
    },
  );

  it('is due five minutes after the end of the period', async () => {
    const now = END_1700 - 20 * HOUR;
    const { entry } = await read(answer(1700), {}, now);
    expect(scheduleAt(SOURCE, entry, now).first.nextAttemptAt).toBe(END_1700 + 5 * MINUTE);
  });
});
