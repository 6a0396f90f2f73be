import { describe, expect, it } from 'vitest';
import { slotTime } from '../../src/lib/chain.ts';
import { SyncCommitteeAnswer } from '../../src/sources/sync-committee/schema.ts';
import { BAD_REQUEST, NOW, post, refusalOf, sandboxOf } from './call.ts';

const PATH = '/api/v2/ethereum/sync-committee';

function period(selector: object, chain?: string, now = NOW): { data: unknown; range: unknown } {
  const body = { sync_committee_period: selector, ...(chain ? { chain } : {}) };
  return JSON.parse(post(sandboxOf(), PATH, body, now).body);
}

describe('sandbox/sync-committee', () => {
  it('gives the example period of the facts, 256 epochs with inclusive ends', () => {
    expect(period({ view: 'latest' }, 'mainnet', Date.UTC(2026, 2, 20))).toEqual({
      data: { period: 1700, finality: 'not_finalized' },
      range: {
        epoch: { start: 435_200, end: 435_455 },
        slot: { start: 13_926_400, end: 13_934_591 },
        timestamp: {
          start: Date.UTC(2026, 2, 19, 17, 20, 23) / 1000,
          end: Date.UTC(2026, 2, 20, 20, 38, 47) / 1000 - 1,
        },
      },
    });
  });

  it('knows the latest period, not final yet', () => {
    expect(period({ view: 'latest' }).data).toEqual({ period: 1595, finality: 'not_finalized' });
    expect(period({ view: 'latest' }, 'hoodi').data).toMatchObject({ period: 217 });
    SyncCommitteeAnswer.parse(period({ view: 'latest' }));
  });

  it('moves on when the first slot of a period is the head', () => {
    const start = slotTime('mainnet', 1596 * 8192 + 1) * 1000;
    const at = (now: number): unknown => period({ view: 'latest' }, 'mainnet', now).data;
    expect(at(start - 1)).toMatchObject({ period: 1595 });
    expect(at(start)).toMatchObject({ period: 1596 });
  });

  it.each([
    ['no selector', {}],
    ['an unknown view', { sync_committee_period: { view: 'finalized' } }],
    ['an unknown chain', { sync_committee_period: { view: 'latest' }, chain: 'goerli' }],
  ])('refuses %s', (_, body) => {
    expect(refusalOf(post(sandboxOf(), PATH, body))).toEqual(BAD_REQUEST);
  });
});
