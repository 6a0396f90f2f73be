import { describe, expect, it } from 'vitest';
import type { Poll } from '../../../src/sources/source.ts';
import type { SyncCommittee } from '../../../src/sources/sync-committee/index.ts';
import { syncCommitteeSource } from '../../../src/sources/sync-committee/index.ts';
import { answering, type FakeApi, pollOnce } from '../../support/answers/fake-api.ts';
import { attempts, HOUR, MINUTE, timing } from '../../support/time/timing.ts';

const SOURCE = syncCommitteeSource('mainnet', HOUR);

/** 2026-03-19 17:20:23 UTC, the start of mainnet period 1700 (api-facts 4). */
const START = 1606824023 + 435200 * 384;
const END_1700 = (START + 98_304) * 1000;

function answer(period: number, fields: { end?: number } = {}): unknown {
  const start = START + (period - 1700) * 98_304;
  return {
    data: { period, finality: 'not_finalized' },
    range: {
      slot: { start: period * 8192, end: period * 8192 + 8191 },
      epoch: { start: period * 256, end: period * 256 + 255 },
      timestamp: { start, end: start + 98_304, ...fields },
    },
  };
}

async function poll(api: FakeApi, previous: SyncCommittee = {}): Promise<SyncCommittee> {
  return (await outcome(api, previous)).value;
}

function outcome(api: FakeApi, value: SyncCommittee = {}): Promise<Poll<SyncCommittee>> {
  return pollOnce(SOURCE, api, value, timing()).catch((failure: Error) => ({ value, failure }));
}

function due(state: SyncCommittee, lastAttemptAt: number): number {
  return SOURCE.due(state, attempts(lastAttemptAt), timing({ intervalMs: HOUR }));
}

describe('sources/sync-committee', () => {
  it('ignores a period that goes back', async () => {
    const state = await poll(answering(answer(1700)));
    expect(await poll(answering(answer(1699)), state)).toEqual(state);
    expect((await poll(answering(answer(1701)), state)).period?.number).toBe(1701);
  });

  it.each([{}, { data: null, range: null }, { data: { period: '1700' } }, { data: { period: 1700 } }])(
    'takes %j for a failure',
    async (body) => {
      expect((await outcome(answering(body))).failure).toMatchObject({ reason: 'invalid_body' });
    },
  );

  it('refuses a period that cannot have begun: no later one would ever replace it', async () => {
    const { failure, value } = await outcome(answering(answer(9999)));
    expect(failure).toMatchObject({ name: 'RequestFailed', reason: 'invalid_body' });
    expect(value.period).toBeUndefined();
  });

  describe('is due', () => {
    it('five minutes after the end of the period', async () => {
      const state = await poll(answering(answer(1700)));
      expect(due(state, END_1700 - 20 * HOUR)).toBe(END_1700 + 5 * MINUTE);
    });
  });
});
