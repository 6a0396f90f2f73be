import { describe, expect, it } from 'vitest';
import { type Bucket, EMPTY_BUCKET, NO_WAIT } from '../../src/budget/bucket.ts';
import type { LongWindow } from '../../src/budget/long-window.ts';
import { budgetTable } from '../../src/status-page/status-budget.ts';
import { DAY, HOUR, NOW } from '../support/time/timing.ts';
import { changed, knownIn } from '../support/web/status-states.ts';
import { pageText, pageWith, withoutMarkup } from './page-text.ts';

const HEALTHY = await knownIn('healthy');

/** The rows of the budget, and then what it says in a few words. 8,660 requests a day are planned. */
function words(buckets: Record<string, Bucket>, known = HEALTHY): string[] {
  const bucket = Object.keys(buckets)[0] ?? '';
  const input = {
    ...changed(known, ({ reads }) => ({ reads: reads.map((read) => ({ ...read, bucket })) })),
    ledger: { ...known.ledger, buckets },
  };
  const table = budgetTable(input, NOW);
  const text = pageText(pageWith({ tables: [table] }));
  const pieces = [/<tr role="row"><th role="rowheader".*?<\/tr>/g, /<small>.*?<\/small>(?=<\/summary>)/g].flatMap(
    (part) => text.match(part) ?? [],
  );
  return pieces.map((piece) => withoutMarkup(piece).trim());
}

function monthly(month: Partial<LongWindow>): Record<string, Bucket> {
  const window = { limit: 100_000, own: 0, since: NOW - 20 * DAY, ...month };
  return {
    default: {
      ...EMPTY_BUCKET,
      limits: { second: 1, month: window.limit },
      firstUseAt: NOW - 20 * DAY,
      month: window,
    },
  };
}

describe('web/status-budget', () => {
  it('has only a summary for a plan without a quota', () => {
    expect(words({ default: { ...EMPTY_BUCKET, limits: { second: 5 } } })).toEqual([
      'Plan: 5 per second without a quota, as on Scale. Needs 8,660 of 388,800 requests a day.',
    ]);
  });

  it('divides a month into used here, used by others, kept free and left', () => {
    const [month] = words(monthly({ own: 30_000, remaining: 65_000 }));
    expect(month).toMatch(/^per month 60,000 of 100,000 left 30,000 used here, 5,000 by others 5,000 kept free /);
    const [alone] = words(monthly({ own: 30_000, remaining: 70_000 }));
    expect(alone).toMatch(/^per month 60,000 of 100,000 left 30,000 used here, 0 by others 10,000 kept free /);
  });

  it('shows how much is reserved for others, which the unused share can cover', () => {
    const others = { since: NOW - 5 * DAY, before: 2_000 };
    const note = words(monthly({ own: 30_000, remaining: 65_000, others })).at(-1);
    expect(note).toContain('Until the quota resets, 600 requests are reserved for others on the account.');
    expect(words(monthly({ own: 30_000, remaining: 65_000 })).at(-1)).not.toContain('reserved');
  });

  it('shows when the quota renews, and whether it lasts until then', () => {
    const [lasting] = words(monthly({ own: 30_000, remaining: 65_000 }));
    expect(lasting).toContain('kept free in 12 h 1 min 2026-10-01 00:02:00 UTC lasts, 55,');
    const [short] = words(monthly({ own: 89_000, remaining: 9_000 }));
    expect(short).toMatch(/ends in 2 h \d+ min \d\d:\d\d:\d\d UTC 8,660 requests a day$/);
  });

  it('plans a quota that may be a trial for thirty days', () => {
    const [month] = words(monthly({ limit: 1_000, own: 300, remaining: 600 }));
    expect(month).toContain('2026-10-01 00:02:00 UTC or, on a trial, in 10 d 2026-10-10 12:01:00 UTC');
  });

  it('shows a wait that the service demanded, and that no requests are sent when access is revoked', async () => {
    const closed = { default: { ...EMPTY_BUCKET, wait: { ...NO_WAIT, until: NOW + HOUR } } };
    expect(words(closed).at(-1)).toContain('No requests for 1 h after a 429.');
    const revoked = words(monthly({ own: 5 }), await knownIn('revoked'));
    expect(revoked.filter((row) => row.endsWith('no requests'))).toHaveLength(1);
    expect(revoked.at(-1)).toContain('No requests are allowed.');
  });
});
