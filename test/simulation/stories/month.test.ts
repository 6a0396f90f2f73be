import { expect, it } from 'vitest';
import { silence, wake } from '../../../src/sandbox/machines.ts';
import { latenessAt } from '../../../src/sources/lateness.ts';
import { offlineAfter } from '../../../src/sources/machines/conditions.ts';
import type { Source } from '../../../src/sources/source.ts';
import { parseDuration } from '../../../src/toolkit/lib/duration.ts';
import { configured } from '../../support/runs/default-config.ts';
import { DAY, HOUR, MINUTE, timing } from '../../support/time/timing.ts';
import { Played } from './played.ts';
import { TRIAL } from './trial.ts';

/** A month of 31 days. */
const OCTOBER = Date.UTC(2026, 9, 1);

interface Case {
  /** The configuration. Default: an empty file. */
  readonly file?: object;
  readonly startDay?: number;
  readonly days?: number;
  /** What happens at the beginning of an hour. */
  readonly happen?: (story: Played, hour: number) => void;
  /** How many requests of the month are used in the end, those of others included. */
  readonly used: readonly [least: number, most: number];
  /** The longest time between two answers for the machines, hours. */
  readonly longest: number;
  /** Behind an endpoint, the mean time between two answers that is promised (docs/budget.md), minutes. */
  readonly every?: Readonly<Record<string, number>>;
}

/** The requests in this hour of a client with a daily number of requests. */
function evenly(perDay: number, hour: number): number {
  return Math.floor((perDay * (hour + 1)) / 24) - Math.floor((perDay * hour) / 24);
}

const CASES: Readonly<Record<string, Case>> = {
  'alone on the account': { used: [895, 900], longest: 2.1, every: { machine_metrics: 70, epoch_slots: 1_440 } },
  'alone on the account, with a watched validator': {
    file: { validators: { watch: [1] } },
    days: 12,
    used: [345, 365],
    longest: 6,
    every: { machine_metrics: 145, validators: 170, epoch_slots: 1_440, network_performance: 1_440 },
  },
  'another client takes 20 a day': {
    happen: (story, hour) => story.othersSpend(evenly(20, hour)),
    used: [970, 1_000],
    longest: 18,
  },
  'requests that never arrive, twice a day and for two days, cost nothing': {
    happen: (story, hour) => {
      if ((hour >= 120 && hour < 168) || hour % 12 === 5) story.cutFor(HOUR);
    },
    days: 12,
    used: [300, 325],
    longest: 48 + 4,
  },
  'from the 20th on, with one quota for 30 days': {
    startDay: 19,
    days: 30,
    // The calendar would give a new one.
    happen: (story, hour) => {
      if (hour === 12 * 24) story.othersSpend(story.used);
    },
    used: [700, 900],
    longest: 24,
  },
};

/** The longest time between two answers for the machines, hours. Start and end of the story count as answers. */
function longestGapOf({ requests, now }: Played, start: number): number {
  const answers = requests.filter(({ endpoint, head }) => endpoint === 'machine_metrics' && head?.status === 200);
  const times = [start, ...answers.map(({ at }) => at), now];
  return Math.max(...times.slice(1).map((at, i) => (at - (times[i] ?? at)) / HOUR));
}

/** How long each source has had no answer, days. */
function silences(story: Played): Map<string, number> {
  const answered = story.family('source_last_success_timestamp_seconds');
  return new Map(Array.from(answered, ([source, at]) => [source, (story.now - at * 1_000) / DAY]));
}

it.each(Object.entries(CASES))('a trial is polled to its last day, and nothing is refused: %s', async (_, one) => {
  const { file = {}, startDay = 0, days = 31, used, longest, every = {}, happen = () => undefined } = one;
  const start = OCTOBER + startDay * DAY;
  const story = new Played({ start, sandbox: TRIAL, file, isLong: true });
  await story.eachHour(days, (hour) => happen(story, hour));
  // Two programs that ask within one second are another matter.
  expect(story.requests.filter(({ counted }) => counted?.refusedBy === 'month')).toEqual([]);
  expect(story.used).toBeGreaterThanOrEqual(used[0]);
  expect(story.used).toBeLessThanOrEqual(used[1]);
  for (const [source, days] of silences(story)) expect(days, source).toBeLessThan(1.2);
  expect(longestGapOf(story, start)).toBeLessThan(longest);
  for (const [endpoint, minutes] of Object.entries(every)) {
    const sent = story.requests.filter((request) => request.endpoint === endpoint).length;
    expect((days * DAY) / MINUTE / sent, endpoint).toBeLessThanOrEqual(minutes);
  }
});

it('a machine that falls silent counts as offline as late as `check` says, and no later', async () => {
  const story = new Played({ start: OCTOBER, sandbox: TRIAL, isLong: true });
  const [[name, machine]] = [...story.sandbox.fleet.machines] as [[string, Parameters<typeof silence>[0]]];
  const [source] = configured().filter((one) => one.name === 'machines') as [Source];
  const polled = (what: string): number => story.shown(`source_${what}_seconds{source="machines"}`) ?? 0;
  const pace = () => timing({ intervalMs: 1_000 * polled('interval') });
  const late: number[] = [];
  for (let i = 0; i < 4; i += 1) {
    await story.advance(5 * HOUR + i * 17 * MINUTE);
    const [[, , said]] = latenessAt([{ source, timing: pace() }]) as [[string, string, string]];
    const since = story.now;
    silence(machine, since);
    const seenAt = () =>
      [...story.family('machine_last_seen_timestamp_seconds')].find(([of]) => of.includes(name))?.[1];
    while (polled('last_success_timestamp') - (seenAt() ?? 0) <= offlineAfter(pace())) await story.advance(4 * MINUTE);
    late.push((story.now - since) / (parseDuration(said) ?? 0));
    wake(machine, story.now);
  }
  expect(Math.max(...late)).toBeLessThanOrEqual(1);
  expect(Math.max(...late)).toBeGreaterThan(0.8);
});

it('what others take is known after a restart, and but one request nothing is sent that is not due', async () => {
  const story = new Played({ start: OCTOBER, sandbox: TRIAL, isLong: true });
  await story.eachHour(10, (hour) => story.othersSpend(evenly(20, hour)));
  const pace = (): number => story.shown('source_interval_seconds{source="machines"}') ?? 0;
  const before = pace();
  await story.restart();
  // The mean of others falls a little with each hour in which they are not heard of. Without them it would be a half.
  expect(Math.abs(pace() / before - 1)).toBeLessThan(0.02);
  await story.advance(MINUTE);
  expect(story.requests.length).toBeLessThanOrEqual(1);
});
