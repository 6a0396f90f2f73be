import type { FleetRequest } from '../../support/fleet.ts';
import { boundOf } from '../../support/fleet-run.ts';
import type { Exchange } from '../../support/simulation.ts';
import { DAY, HOUR, MINUTE } from '../../support/timing.ts';
import { idle } from './drawn-idle.ts';
import { isUndisturbed, type Life, lastsEvenly } from './drawn-life.ts';
import type { LifeSeen, PollSeen } from './drawn-seen.ts';

/** Descriptions of everything that the program did wrong in a life. */
export function mistakesOf(life: Life, seen: LifeSeen): string[] {
  return [
    ...refusals(life, seen),
    ...longGaps(life, seen),
    ...unmet(life, seen),
    ...stretchedByNothing(life, seen),
    ...untrue(life, seen),
    ...invisible(life, seen),
    ...idle(life, seen),
    ...repeatedPlans(seen),
    ...failed(life, seen),
  ];
}

/** Refused requests. One may be refused if others used the rest since our last request, or asked in the same second. */
function refusals({ latencyMs }: Life, { exchanges, spent }: LifeSeen): string[] {
  const othersIn = (from: number, to: number): boolean => spent.some(({ at }) => at > from && at <= to);
  return exchanges.flatMap((exchange, i) => {
    const { at, status, headers } = exchange;
    if (status !== 429) return [];
    const window = headers['ratelimit-window'];
    if (window === 'second') {
      return othersIn(at - 1_000, at) ? [] : [`refused by the second at ${when(at)}`];
    }
    const before = exchanges.slice(0, i).findLast((one) => one.at <= at - latencyMs);
    // Once a day the program asks whether the quota has grown.
    const asks = before === undefined || at - before.at >= DAY;
    return asks || othersIn(before.at, at) ? [] : [`refused by the month at ${when(at)}`];
  });
}

const MAX_GAP = 1.5;
/** A wait shorter than an interval is not announced if the quota lasts unevenly, or not for the last poll. */
const UNTOLD_WAIT = 0.5;
/** Tolerance: a heartbeat, and the second after a restart. */
const LATE_MS = 20_000;

/** Gaps between two polls of a source that are longer than 1.5 times the longest interval shown in them. */
function longGaps(life: Life, { polls, moments, spent, restarts }: LifeSeen): string[] {
  const ids = [...(moments[0]?.sources.keys() ?? [])].filter(isPaced);
  // Without surprises a quota lasts to its end.
  const isCalm = lastsEvenly(life);
  const isBurst = life.others.kind === 'bursts' || life.limits.perMonth === undefined;
  return ids.flatMap((id) => {
    const mine = polls.filter((poll) => poll.id === id);
    const edges = [{ at: life.start, end: life.start, toldMs: 0, ok: true }, ...mine, edge(life.end)];
    return edges.slice(1).flatMap((poll, i) => {
      const before = edges[i] ?? edge(life.start);
      const during = moments
        .filter(({ at }) => at >= before.at && at <= poll.at)
        .flatMap((m) => m.sources.get(id) ?? []);
      const told = Math.max(before.toldMs ?? 0, poll.toldMs ?? 0, ...during.map(({ intervalMs }) => intervalMs));
      // If polls take as long as their interval, the unfinished one began when the last one ended.
      const gap = poll.at - (i === edges.length - 2 ? before.end : before.at);
      // A restart interrupts a sweep. From the first sweeps of a large fleet the program learns how long they take.
      const cuts = restarts.filter((at) => at >= before.at && at <= poll.at).length;
      const isLearning = i <= 2;
      const isSpent = moments.some(({ at, ours }) => at >= before.at && at <= poll.at && ours < 1);
      const untold = life.limits.perMonth === undefined || (isCalm && !isSpent) ? 0 : UNTOLD_WAIT;
      const longest = MAX_GAP + cuts + untold;
      if (told === 0 || gap <= longest * told + LATE_MS) return [];
      if (isLearning && (cuts > 0 || gap <= MAX_GAP * (before.end - before.at) + LATE_MS)) return [];
      if (!before.ok || during.some(({ waits, failing }) => (waits && !isCalm) || failing)) return [];
      if (isBurst && spent.some(({ at }) => at >= before.at && at <= poll.at)) return [];
      return [`${id}: nothing for ${span(gap)} from ${when(before.at)} on, told ${span(told)}`];
    });
  });
}

function edge(at: number): Pick<PollSeen, 'at' | 'end' | 'toldMs' | 'ok'> {
  return { at, end: at, toldMs: 0, ok: true };
}

/** Whether a source follows its interval. The others follow their data. */
function isPaced(id: string): boolean {
  return id === 'machines' || id.startsWith('slashings');
}

/** The steady part of the span. Before it the program learns. At the end of a quota single requests matter. */
const STEADY = [0.4, 0.9] as const;
const FEWEST_GAPS = 3;
const MET_WITHIN = 0.05;
/** More tolerance for few sweeps, because sweeps differ by whole requests. */
const ODD_SWEEP = 0.25;
/** Requests by which one sweep takes longer than another, because a finalized pass of a chain falls into it. */
const PASS_REQUESTS = 2;
/** In a steady state the shown intervals differ by less. */
const STEADY_RATIO = 1.25;

/** Sources whose mean time between polls in a steady state is not the interval that they show. */
function unmet(life: Life, { polls, moments }: LifeSeen): string[] {
  if (!isUndisturbed(life) || life.others.kind !== 'none' || life.monthEnds === 0.5) return [];
  const [from, to] = STEADY.map((part) => life.start + part * (life.end - life.start)) as [number, number];
  const steady = moments.filter(({ at }) => at >= from && at <= to);
  const ids = [...(moments[0]?.sources.keys() ?? [])].filter(isPaced);
  return ids.flatMap((id) => {
    const told = steady.flatMap(({ sources }) => sources.get(id) ?? []);
    if (told.some(({ waits, failing }) => waits || failing)) return [];
    const starts = polls.filter((poll) => poll.id === id && poll.at >= from && poll.at <= to);
    const [first, last] = [starts[0], starts.at(-1)];
    if (!first || !last || starts.length - 1 < FEWEST_GAPS) return [];
    const met = (last.at - first.at) / (starts.length - 1);
    const mean = told.reduce((sum, { intervalMs }) => sum + intervalMs, 0) / told.length;
    const intervals = told.map(({ intervalMs }) => intervalMs);
    if (Math.max(...intervals) > STEADY_RATIO * Math.min(...intervals)) return [];
    const passMs = (life.chains * PASS_REQUESTS * DAY) / life.perDay.byRate;
    const odd = Math.max(ODD_SWEEP / starts.length, passMs / mean / (starts.length - 1));
    if (Math.abs(met / mean - 1) <= MET_WITHIN + odd) return [];
    return [`${id}: told ${span(mean)}, met ${span(met)} (${starts.length} polls)`];
  });
}

/** Intervals that grow while the quota is used up. They must stay as they were before. */
function stretchedByNothing({ limits, utilization }: Life, { moments, polls, spent, exchanges }: LifeSeen): string[] {
  const { perMonth } = limits;
  if (perMonth === undefined) return [];
  return moments.flatMap(({ at, left, sources }) => {
    const taken = spent.findLast((one) => one.at <= at)?.at ?? 0;
    const isKnown = exchanges.some((exchange) => exchange.at > taken && exchange.at < at);
    if (left >= 1 || !isKnown) return [];
    return [...sources].flatMap(([id, { intervalMs }]) => {
      const last = polls.findLast((poll) => poll.id === id && poll.end <= at && poll.toldMs !== undefined);
      if (!last?.toldMs || intervalMs <= 1.05 * last.toldMs) return [];
      return [`${id}: told ${span(intervalMs)} at ${when(at)}, where nothing is left of ${perMonth * utilization}`];
    });
  });
}

/** Shown values that were never pushed, or that are older than stale_after. */
function untrue({ lag }: Life, { moments, polls }: LifeSeen): string[] {
  return moments.flatMap(({ at, shown, untrue: made, sources }) => {
    const told = polls.filter((poll) => poll.id === 'machines' && poll.end <= at).slice(-2);
    const longest = Math.max(sources.get('machines')?.intervalMs ?? 0, ...told.map(({ toldMs = 0 }) => toldMs));
    const staleMs = Math.max(10 * MINUTE, 2 * longest + 3 * MINUTE);
    const old = [...shown].filter(([, second]) => at - second * 1_000 > staleMs + 1_000);
    return [
      ...made.map((name) => `${name} shown at ${when(at)} was never pushed`),
      ...old.map(([name, second]) => `${name} at ${when(at)} is ${span(at - second * 1_000)} old (${lag.ms})`),
    ];
  });
}

/** Sweeps in which a machine must be found, in a small and in a large fleet. */
const SWEEPS_TO_FIND = [5, 12] as const;
const LARGE_FLEET = 100;
const LATEST_MS = 5 * MINUTE;
/** Where sweeps are further apart, a machine that alone is late is not looked for. */
const RARE_MS = 4 * MINUTE;

/** Machines that push and are not shown, though enough sweeps began after their first record was five minutes old. */
function invisible({ lag }: Life, { moments, polls, exchanges }: LifeSeen): string[] {
  const sweeps = polls.filter(({ id }) => id === 'machines');
  const searching: PollSeen[] = [];
  const missing: string[] = [];
  for (const { at, shown, living, sources } of moments) {
    for (let sweep = sweeps[0]; sweep && sweep.end < at; sweep = sweeps[0]) {
      const last = searching.at(-1);
      const rareMs = lag.ms === 0 || lag.ofAll ? MAX_GAP * (sweep.toldMs ?? 0) + LATE_MS : RARE_MS;
      // The first sweep, or the first one after an outage, only sets where the next ones begin.
      if (!sweep.ok || (last && sweep.at - last.at > rareMs)) searching.length = 0;
      if (sweep.ok) searching.push(sweep);
      sweeps.shift();
    }
    const last = searching.at(-1);
    const told = sources.get('machines')?.intervalMs ?? 0;
    if (!last || at - last.at > 2 * told) continue;
    for (const [name, since] of living) {
      const known = searching
        .slice(1)
        .filter((sweep) => sweep.at >= since + MINUTE + LATEST_MS && searches(sweep, exchanges, living.size));
      if (!shown.has(name) && known.length >= SWEEPS_TO_FIND[living.size < LARGE_FLEET ? 0 : 1])
        missing.push(`${name} is not shown at ${when(at)}`);
    }
  }
  return missing;
}

/** Whether a sweep looks for late records. It does not where the newest ones take as many requests as a sweep may. */
function searches({ at, end }: PollSeen, exchanges: readonly Exchange[], machines: number): boolean {
  const pages = exchanges.filter((one) => {
    if (one.at < at || one.at > end || one.status !== 200 || !one.path.endsWith('/machine-metrics')) return false;
    const body: FleetRequest = JSON.parse(one.body);
    return body.machines === undefined && body.range.timestamp.end * 1_000 > at;
  });
  return pages.length <= boundOf(machines) - 1;
}

/** In the first hour after its first plan the program learns how many requests polls need. */
const LEARNING_MS = HOUR;

/** Plans that are logged more than once a day, the learning phase apart. */
function repeatedPlans({ plans }: LifeSeen): string[] {
  return plans.flatMap(({ since, at }, i) => {
    const first = plans.find((one) => one.since === since);
    const before = plans[i - 1];
    if (!first || before?.since !== since || at <= first.at + LEARNING_MS || at - before.at >= DAY) return [];
    return [`the plan is told at ${when(at)}, ${span(at - before.at)} after the last time`];
  });
}

const FIRST_POLLS = 5;
const USUAL = 0.95;
/** With fewer requests left, a poll that needs more than usual may fail. */
const FEW_LEFT = 4;

/** Polls that fail without an outage and without interference by others. */
function failed({ outages, others: { kind }, restarts }: Life, { polls, moments, exchanges }: LifeSeen): string[] {
  if (outages.length + restarts.length > 0 || (kind !== 'none' && kind !== 'steady')) return [];
  const pages = exchanges.filter(({ path }) => path.endsWith('/machine-metrics')).length;
  const perSweep = pages / polls.filter(({ id }) => id === 'machines').length;
  const oursAt = (at: number): number => {
    const moment = moments.findLast((one) => one.at <= at);
    const since = exchanges.filter((exchange) => exchange.at > (moment?.at ?? 0) && exchange.at <= at);
    return (moment?.ours ?? 0) - since.length;
  };
  return polls.flatMap(({ id, at, ok, reason }) => {
    // Before the first polls the program does not know how many requests they need.
    const isFirst = polls.filter((poll) => poll.id === id && poll.at <= at).length <= FIRST_POLLS;
    if (ok || isFirst || (kind === 'steady' && reason === 'rate_limited')) return [];
    const left = oursAt(at);
    // At its start enough requests were left for a usual poll.
    const isOdd = reason === 'BudgetClosed' && (left < FEW_LEFT || left >= USUAL * perSweep);
    return isOdd ? [] : [`${id} fails at ${when(at)}: ${reason}, ${left} left`];
  });
}

function when(at: number): string {
  return new Date(at).toISOString().replace('.000Z', 'Z');
}

function span(ms: number): string {
  return ms < 10 * MINUTE ? `${(ms / 1_000).toFixed(1)} s` : `${(ms / MINUTE).toFixed(1)} min`;
}
