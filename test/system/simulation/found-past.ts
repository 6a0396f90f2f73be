import { emptyLedger, type Ledger, withKey } from '../../../src/budget/ledger.ts';
import { noteTaken, type TakenByOthers } from '../../../src/budget/others.ts';
import { fingerprintOf } from '../../../src/exporter/state.ts';
import { DEMO_KEY } from '../../../src/sandbox/world.ts';
import { DAY, HOUR, MINUTE } from '../../support/timing.ts';
import type { Life } from './found-life.ts';

/** How far back the program considers the use by others. */
const HABIT_DAYS = 7.5;

export interface Past {
  readonly own: number;
  readonly taken: number;
  readonly ledger?: Ledger;
}

/** What the program and others have used since the start of the month. */
export function pastOf({ hasRun, limits, start, monthStart, othersPerDay, perDay, others }: Life): Past {
  const { perMonth, perSecond } = limits;
  if (!hasRun || perMonth === undefined) return { own: 0, taken: 0 };
  const days = (start - monthStart) / DAY;
  const own = Math.floor(Math.min(perDay.allowed, perDay.wanted) * days);
  const theirsPerDay = others.kind === 'steady' || others.kind === 'ends' ? othersPerDay : 0;
  const taken = Math.floor(theirsPerDay * days);
  const limit = { limits: { second: perSecond, minute: perMonth, hour: perMonth, day: perMonth, month: perMonth } };
  const remaining = perMonth - own - taken;
  let habit: TakenByOthers | undefined;
  for (let ago = Math.min(HABIT_DAYS, days) * DAY; ago > MINUTE; ago -= 4 * HOUR) {
    habit = noteTaken(habit, Math.floor(taken - (theirsPerDay * ago) / DAY), monthStart, start - ago);
  }
  const known = withKey(emptyLedger(), fingerprintOf(DEMO_KEY), monthStart);
  return {
    own,
    taken,
    ledger: {
      ...known,
      shared: 'default',
      key: { ...known.key, standing: 'valid', since: start - MINUTE },
      buckets: {
        default: {
          ...limit,
          remaining: { second: perSecond - 1, month: remaining },
          closedUntil: 0,
          blindWaits: 0,
          firstUseAt: monthStart,
          lastUseAt: start - MINUTE,
          month: { limit: perMonth, remaining, own, since: monthStart },
          ...(habit ? { others: habit } : {}),
        },
      },
    },
  };
}
