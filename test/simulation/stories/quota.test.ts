import { expect, it } from 'vitest';
import { DAY, HOUR, MINUTE } from '../../support/time/timing.ts';
import { Played } from './played.ts';
import { shownMachines, TRIAL } from './trial.ts';

/** A first start so late that the month ends after twelve days. */
const START = Date.UTC(2026, 9, 20);
const NOVEMBER = Date.UTC(2026, 10, 1);
const SLASHINGS = 'source="slashings",chain="mainnet"';
const AS_CONFIGURED = { machines: 60, slashings: 65 };

/** Seconds. */
function intervals(story: Played) {
  const of = (labels: string): number => story.shown(`source_interval_seconds{${labels}}`) ?? Number.NaN;
  return { machines: of('source="machines"'), slashings: of(SLASHINGS) };
}

/** The other programs on the account leave this many requests of the month. */
function leave(story: Played, left: number): void {
  story.othersSpend(1_000 - left - story.used);
}

/** A trial after two days in which all was well. */
async function trial(): Promise<Played> {
  const story = new Played({ start: START, sandbox: TRIAL, isLong: true });
  await story.advance(2 * DAY);
  return story;
}

it.each([
  [0, 1],
  [1, 1],
  [10, 10],
])('others leave %i of the month: the pace stays, values go, all comes back at the renewal', async (left, most) => {
  const story = await trial();
  const before = intervals(story);
  expect(shownMachines(story)).toHaveLength(3);
  leave(story, left);
  const polled = story.requests.length;
  for (let day = 2; day < 12; day += 2) {
    await story.until(START + (day + 0.5) * DAY);
    const { machines, slashings } = intervals(story);
    expect(machines / before.machines, `machines on day ${day}`).toBeCloseTo(1, 1);
    expect(slashings / before.slashings, `slashings on day ${day}`).toBeCloseTo(1, 1);
    expect(shownMachines(story), `day ${day}`).toHaveLength(0);
  }
  // Each source is logged as waiting.
  const waits = Object.entries(story.log.findLast(({ waits }) => waits)?.['waits'] ?? {});
  const sources = ['daily_returns-mainnet', 'machines', 'slashings-mainnet', 'sync_committee-mainnet'];
  expect(waits.map(([source]) => source).toSorted()).toEqual(sources);
  for (const [, why] of waits) expect(why).toMatch(/^the monthly quota, until 2026-11-01T00:02:00\./);
  expect(story.requests.length - polled).toBeLessThanOrEqual(most);
  if (left === 0) expect(story.statuses.slice(polled)).toEqual([429]);
  await story.until(NOVEMBER + 4 * HOUR);
  expect(shownMachines(story)).toHaveLength(3);
  for (const [source, at] of story.family('source_last_success_timestamp_seconds'))
    expect(at * 1_000, source).toBeGreaterThanOrEqual(NOVEMBER);
});

it('nothing is sent until the renewal, over restarts too, but one request at a start', async () => {
  const story = await trial();
  leave(story, 0);
  await story.advance(5 * HOUR);
  for (const day of [4, 8]) {
    await story.restart();
    await story.until(START + day * DAY);
    expect(story.requests.length).toBeLessThanOrEqual(1);
    const next = story.family('source_next_attempt_timestamp_seconds');
    for (const [source, at] of next) expect(at * 1_000, source).toBeGreaterThanOrEqual(NOVEMBER);
  }
});

it.each([
  ['start', 0],
  ['start', 1],
  ['start', 400],
  ['reload', 0],
  ['reload', 400],
])('a larger plan is noticed by one request at the next %s, with %i left', async (how, left) => {
  const story = await trial();
  leave(story, left);
  await story.advance(DAY);
  const beginAgain = async (): Promise<void> => {
    if (how === 'start') return story.restart(11 * MINUTE);
    await story.advance(11 * MINUTE);
    story.requests.length = 0;
    story.world.reload();
  };
  await beginAgain();
  await story.advance(MINUTE);
  // The plan is the same: nothing else is sent that is not due.
  expect(story.requests.length).toBe(1);
  story.sandbox.account.plan = 'hobbyist';
  await beginAgain();
  await story.advance(5 * MINUTE);
  expect(intervals(story)).toEqual(AS_CONFIGURED);
  expect(story.statuses).not.toContain(429);
  expect(shownMachines(story)).toHaveLength(3);
});

it('a first start on a used up quota keeps the pace as configured', async () => {
  const story = new Played({ start: START, sandbox: TRIAL, isLong: true });
  leave(story, 0);
  await story.advance(2 * DAY);
  expect(intervals(story)).toEqual(AS_CONFIGURED);
});
