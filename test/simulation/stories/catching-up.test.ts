import { expect, it } from 'vitest';
import { DAY, MINUTE } from '../../support/time/timing.ts';
import { Played } from './played.ts';

const OFF = { enabled: false };

it('stories/catching-up: after a stop of half a day reads more than 45 epochs a minute at a request a second, and skips none', async () => {
  const sandbox = { plan: { perSecond: 1 }, slotsPerSlashing: 20_000 };
  const file = { machines: OFF, daily_returns: OFF, sync_committee: OFF };
  const story = new Played({ sandbox, file, latency: { low: 150, high: 150 } });
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
