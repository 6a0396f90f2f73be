import type { Breakage } from './breakage.ts';

/** Faults of what is told of the pace, and of using what the account allows. */
export const PACE_BREAKAGES: readonly Breakage[] = [
  {
    name: 'part of the rate never used',
    file: 'budget/second-window.ts',
    find: 'this.#lastAtShare + 1000 / this.#share(), now',
    replace: 'this.#lastAtShare + 1250 / this.#share(), now',
    why: 'A large fleet is polled more seldom than the limit per second allows.',
  },
  {
    name: 'utilization ignored in the second',
    file: 'budget/second-window.ts',
    find: '    return this.limit * this.utilization;',
    replace: '    return this.limit;',
    why: 'More than the configured share of the rate is used.',
  },
  {
    name: 'part of the quota never used',
    file: 'budget/long-window.ts',
    find: '  const share = Math.floor(window.limit * utilization) - window.own;',
    replace: '  const share = Math.floor(0.9 * window.limit * utilization) - window.own;',
    why: 'A tenth of the quota is left when the month ends.',
  },
  {
    name: 'exhausted quota taken for an interval',
    file: 'scheduler/schedule.ts',
    find: '  const pace: Pace = { ...last, requestsPerDay',
    replace: '  const pace: Pace = { ...planned, requestsPerDay',
    why: 'The interval that is shown grows without end while nothing is left, and values stay for as long.',
  },
  {
    name: 'every change of the plan told',
    file: 'scheduler/plan-news.ts',
    find: '    return isLearned && limits === told.limits && at - told.at < MS_PER_DAY;',
    replace: '    return isLearned && limits === told.limits && at < told.at;',
    why: 'The log repeats the plan many times a day.',
  },
  {
    name: 'wait that is not named does not grow',
    file: 'budget/bucket.ts',
    find: 'FIRST_BLIND_WAIT_MS * 2 ** blindWaits',
    replace: 'FIRST_BLIND_WAIT_MS',
    why: 'A service that refuses everything without saying for how long is asked every minute.',
  },
  {
    name: 'more retries',
    file: 'api/retry.ts',
    find: 'const MAX_RETRIES = 2;',
    replace: 'const MAX_RETRIES = 4;',
    why: 'A request that fails is sent five times.',
  },
  {
    name: 'late records not read',
    file: 'sources/machines/poll.ts',
    find: '  if (late) await readLate',
    replace: '  if (late && seconds < 0) await readLate',
    why: 'A machine whose clock is behind is never seen.',
  },
];
