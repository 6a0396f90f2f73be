import type { FleetRequest } from '../../support/fleet.ts';
import { boundOf } from '../../support/fleet-run.ts';
import type { Exchange } from '../../support/simulation.ts';
import { MINUTE } from '../../support/timing.ts';
import type { Life } from './found-life.ts';
import type { LifeSeen, PollSeen } from './found-seen.ts';

/** Descriptions of everything that the program did wrong in a life. */
export function mistakesOf(life: Life, seen: LifeSeen): string[] {
  return [...invisible(life, seen), ...failed(life, seen)];
}

const MAX_GAP = 1.5;
/** Tolerance: a heartbeat. */
const LATE_MS = 20_000;

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

const FIRST_POLLS = 5;
const USUAL = 0.95;
/** With fewer requests left, a poll that needs more than usual may fail. */
const FEW_LEFT = 4;

/** Polls that fail without interference by others. */
function failed({ others: { kind } }: Life, { polls, moments, exchanges }: LifeSeen): string[] {
  if (kind !== 'none' && kind !== 'steady') return [];
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
