import { expect, it } from 'vitest';
import { DAY, HOUR, MINUTE } from '../../support/time/timing.ts';
import { Played } from './played.ts';
import { TRIAL } from './trial.ts';

/** The last days of a month, in which the quota of a month is that of a day. */
const NOVEMBER = Date.UTC(2026, 10, 1);
const DAYS = 2;
const SKIPPED = 'skipped_epochs_total{chain="mainnet"}';
const OFF = { enabled: false };
const SLASHINGS_ONLY = { machines: OFF, daily_returns: OFF, sync_committee: OFF };

it('a quota of which slashings get 228 requests a day is spent to 97 %, and nothing is skipped that could be read', async () => {
  const perMonth = Math.round((15_850 * DAYS) / 31);
  const start = NOVEMBER - DAYS * DAY;
  const story = new Played({ start, sandbox: { ...TRIAL, plan: { perSecond: 5, perMonth } }, isLong: true });
  await story.until(NOVEMBER - 1);
  expect(story.log.filter(({ intervals }) => intervals).length).toBeLessThanOrEqual(2 * DAYS);
  expect(story.used).toBeGreaterThanOrEqual(0.97 * 0.9 * perMonth);
  expect(story.used).toBeLessThanOrEqual(0.9 * perMonth);
  expect(story.shown(SKIPPED)).toBe(0);
});

it.each([
  { perDay: 100, isHeadRead: false, isSampled: true },
  { perDay: 300, isHeadRead: false, isSampled: false },
  { perDay: 700, isHeadRead: true, isSampled: false },
])('slashings with $perDay requests a day send what is planned, within 2 %', async (one) => {
  const plan = { perSecond: 5, perMonth: Math.ceil((one.perDay * 31) / 0.9) };
  const start = Date.UTC(2026, 9, 1);
  const story = new Played({ start, sandbox: { ...TRIAL, plan }, file: SLASHINGS_ONLY, isLong: true });
  await story.advance(6 * HOUR);
  const planned = story.shown('budget_planned_requests_per_day{source="slashings"}') ?? 0;
  const skipped = story.shown(SKIPPED) ?? 0;
  const before = story.requests.length;
  await story.advance(DAY);
  const sent = story.requests.slice(before);
  expect(Math.abs(sent.length - planned)).toBeLessThanOrEqual(Math.max(2, planned * 0.02));
  expect(planned).toBeGreaterThanOrEqual(0.97 * Math.min(one.perDay, 1_779));
  expect(sent.some(({ request }) => request.path.includes('/latest/'))).toBe(one.isHeadRead);
  expect((story.shown(SKIPPED) ?? 0) > skipped).toBe(one.isSampled);
});

it('after a stop of half a day reads more than 45 epochs a minute at a request a second, and skips none', async () => {
  const sandbox = { plan: { perSecond: 1 }, slotsPerSlashing: 20_000 };
  const story = new Played({ sandbox, file: SLASHINGS_ONLY, latency: { low: 150, high: 150 } });
  const counted = (what: string): number => story.shown(`${what}{chain="mainnet"}`) ?? Number.NaN;
  const slots = (): number => [...story.family('slots_total').values()].reduce((sum, one) => sum + one, 0);
  await story.advance(10 * MINUTE);
  const [from, before] = [counted('scanned_epoch'), slots()];
  await story.restart(DAY / 2);
  const start = story.now;
  await story.advance(3 * MINUTE);
  const scanned = counted('scanned_epoch');
  expect(scanned - from).toBeGreaterThan(100);
  expect([scanned, counted('skipped_epochs_total')]).toEqual([counted('finalized_epoch'), 0]);
  expect(slots() - before).toBe(32 * (scanned - from));
  const heads = story.requests.filter(({ request }) => request.path.includes('latest')).map(({ at }) => at);
  for (const [i, at] of heads.entries()) expect(at - (heads[i - 1] ?? start)).toBeLessThan(80_000);
});
