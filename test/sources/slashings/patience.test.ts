import { beforeEach, describe, expect, it } from 'vitest';
import type { FailureReason } from '../../../src/api/errors.ts';
import { epochRows, type Fields } from '../../support/answers/slot-rows.ts';
import { E, F, type Follower, following } from '../../support/runs/follower.ts';
import { HOUR, MINUTE } from '../../support/time/timing.ts';

const BAD = F + 1;
const EPOCH_MS = 384_000;

/** A follower that is about to read the finalized epochs BAD and BAD + 1. */
let follower: Follower;
beforeEach(async () => {
  follower = await following();
  follower.chain.advance(2);
});

function failing(what: string, reason: FailureReason): void {
  follower.fault = (asked) => (asked === what ? reason : undefined);
}

function counts(): unknown {
  const { slots, skippedEpochs } = follower.state.totals;
  return { ...slots, skipped: skippedEpochs, scanned: follower.state.scannedEpoch };
}

/** Polls every minute for `ms`. */
async function pass(ms: number): Promise<void> {
  for (const end = follower.now + ms; follower.now < end; ) await follower.poll();
}

describe('sources/slashings patience', () => {
  describe('with slots that stay scheduled in a finalized epoch', () => {
    beforeEach(async () => {
      follower.chain.answers.set(`${BAD}`, epochRows(BAD, { 30: { status: '0' }, 31: { status: '0' } }));
      await follower.poll();
    });

    it('reads the epoch again each interval, and counts no later one', async () => {
      expect(follower.failure).toBeUndefined();
      expect(follower.due()).toBe(follower.now + MINUTE);
      expect(await follower.poll()).toEqual(['latest', 'finalized', `${BAD}`]);
      expect(counts()).toEqual({ proposed: 32, missed: 0, orphaned: 0, skipped: 0, scanned: F });
    });

    it('counts them as missed after an hour, not before', async () => {
      await pass(HOUR - MINUTE);
      expect(follower.state.scannedEpoch).toBe(F);
      await follower.poll();
      expect(counts()).toEqual({ proposed: 94, missed: 2, orphaned: 0, skipped: 0, scanned: F + 2 });
    });

    it('counts them as missed after an hour at one head pass an epoch, too', async () => {
      for (let i = 0; i < 9; i += 1) await follower.poll(EPOCH_MS, { allowedPerDay: 675 });
      expect(follower.state.scannedEpoch).toBe(F);
      expect(follower.due({ allowedPerDay: 675 })).toBe(follower.now + EPOCH_MS);
      await follower.poll(EPOCH_MS, { allowedPerDay: 675 });
      expect(counts()).toMatchObject({ missed: 2, scanned: F + 2 });
    });
  });

  describe('with a finalized epoch that cannot be read', () => {
    it.each<[FailureReason, rows?: readonly unknown[]]>([
      ['server_error'],
      ['invalid_body', [null]],
      ['invalid_body', epochRows(F).map((one) => ({ ...one, epoch: BAD }))],
    ])('skips and counts it after an hour of %s, and continues', async (reason, rows) => {
      if (rows) follower.chain.answers.set(`${BAD}`, rows as Fields[]);
      else failing(`${BAD}`, reason);
      await follower.poll();
      expect(follower.failure).toMatchObject({ reason });
      await pass(HOUR - MINUTE);
      expect(counts()).toMatchObject({ skipped: 0, scanned: F });
      await follower.poll();
      expect(counts()).toEqual({ proposed: 64, missed: 0, orphaned: 0, skipped: 1, scanned: F + 2 });
      expect(follower.failure).toBeUndefined();
    });

    it.each<[FailureReason, what: string]>([
      ['forbidden', `${BAD}`],
      ['rate_limited', `slot/${BAD * 32}`],
    ])('waits for it while the service is away: %s for %s', async (reason, what) => {
      follower.chain.slash(BAD * 32, [7]);
      failing(what, reason);
      await pass(3 * HOUR);
      expect(follower.entry.reads['finalized']).toMatchObject({ lastError: { reason } });
      expect(counts()).toMatchObject({ skipped: 0, scanned: F });
      follower.fault = () => undefined;
      // A read that is forbidden pauses for an hour.
      await follower.poll(HOUR);
      expect(counts()).toMatchObject({ proposed: 96, skipped: 0, scanned: F + 2 });
      expect(follower.sightings).toHaveLength(1);
    });

    it('does not count a stop or a sleep as part of that hour', async () => {
      failing(`${BAD}`, 'bad_request');
      await follower.poll();
      await follower.poll(2 * HOUR);
      follower.startAnew(2 * HOUR);
      await follower.poll(0);
      await pass(HOUR - 2 * MINUTE);
      expect(counts()).toMatchObject({ skipped: 0, scanned: F });
      await follower.poll();
      expect(counts()).toMatchObject({ skipped: 1, scanned: F + 2 });
    });

    it.each<[FailureReason, what: string]>([
      ['network', `${BAD}`],
      ['server_error', 'everything'],
    ])('gives nothing up during or right after an outage of two hours: %s for %s', async (reason, what) => {
      failing(`${BAD}`, 'server_error');
      await pass(HOUR / 2);
      follower.chain.grow(E + 3, F + 3);
      follower.fault = (asked) => (what === 'everything' || asked === what ? reason : undefined);
      await pass(2 * HOUR);
      failing(`${BAD}`, 'server_error');
      await pass(HOUR / 2 - MINUTE);
      expect(counts()).toEqual({ proposed: 32, missed: 0, orphaned: 0, skipped: 0, scanned: F });
      follower.fault = () => undefined;
      await follower.poll();
      expect(counts()).toEqual({ proposed: 4 * 32, missed: 0, orphaned: 0, skipped: 0, scanned: F + 3 });
    });
  });
});
