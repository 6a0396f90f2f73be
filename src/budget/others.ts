import { z } from 'zod';
import { MS_PER_DAY, MS_PER_HOUR } from '../lib/duration.ts';
import type { UnixMs } from '../lib/time.ts';
import { unixMs } from './long-window.ts';

/** How much others on the account had taken of a window, at times; oldest first. */
export const TakenByOthers = z.object({
  /** When the window began, to tell whether it is still the same. */
  since: unixMs,
  points: z.array(z.object({ at: unixMs, taken: z.number() })).min(1),
  /** What they can be expected to go on taking. */
  perDay: z.number().nonnegative(),
});
export type TakenByOthers = z.infer<typeof TakenByOthers>;

type Point = TakenByOthers['points'][number];

const DAYS_KEPT = 7;
const SPACING_MS = 4 * MS_PER_HOUR;
const LONG_GAP_MS = 12 * MS_PER_HOUR;
const RECENT_DAYS = 3;
/** A burst is no habit, and one can lie on two days. */
const MAX_ODD_DAYS = 2;
const CLEARLY_MORE = 1.15;
/** Kept beyond the end: a refusal is worse than a few requests that are left over. */
const SPARE_MS = MS_PER_DAY / 2;

/**
 * Takes in how much others have taken of the window so far. What they took before the first time is gone, and says
 * nothing of how fast. An answer can only tell too much (requests of ours under way count as theirs until their own answers
 * come), so that a smaller number corrects all before it.
 */
export function noteTaken(known: TakenByOthers | undefined, taken: number, since: UnixMs, now: UnixMs): TakenByOthers {
  const past = known?.points.filter(({ at }) => at <= now) ?? [];
  const last = past.at(-1);
  if (!last) return { since, points: [{ at: now, taken }], perDay: 0 };
  // A new window begins anew to count, and others go on as they did.
  const offset = known?.since === since ? 0 : last.taken - taken;
  const level = past.map((point) => ({ at: point.at, taken: Math.min(point.taken - offset, taken) }));
  const oldest = now - (DAYS_KEPT * MS_PER_DAY + SPACING_MS);
  const kept = level.filter((_, i) => (level[i + 1]?.at ?? now) > oldest);
  const before = kept.at(-2);
  // The last one moves on until it is far enough from the one before it.
  const settled = before && last.at - before.at < SPACING_MS ? kept.slice(0, -1) : kept;
  const points = [...settled, { at: now, taken }];
  return { since, points, perDay: habitOf(points, now) };
}

/** Requests that others can be expected to take from the last look until `end`. */
export function keptForOthers(known: TakenByOthers | undefined, end: UnixMs): number {
  const { points = [], perDay = 0 } = known ?? {};
  const seenAt = points.at(-1)?.at ?? end;
  return (perDay * Math.max(0, end + SPARE_MS - seenAt)) / MS_PER_DAY;
}

/**
 * Requests a day: the average of the week, the odd days of which count as the largest of the others; or what came on each
 * of the last three days, where that is clearly more.
 */
function habitOf(points: readonly Point[], now: UnixMs): number {
  const days = Array.from({ length: DAYS_KEPT }, (_, i) => {
    const end = now - i * MS_PER_DAY;
    return takenAt(points, end) - takenAt(points, end - MS_PER_DAY);
  });
  const usual = days.toSorted((a, b) => b - a)[MAX_ODD_DAYS] ?? 0;
  const week = days.reduce((sum, taken) => sum + Math.min(taken, usual), 0) / DAYS_KEPT;
  const recent = Math.min(...days.slice(0, RECENT_DAYS));
  return recent > week * CLEARLY_MORE ? recent : week;
}

/**
 * What came between two looks came at once, as far as we know: divided, a burst would look like the habit of two days.
 * What came in a long time without a look came evenly.
 */
function takenAt(points: readonly Point[], at: UnixMs): number {
  const i = points.findLastIndex((point) => point.at <= at);
  const [before, after] = [points[Math.max(0, i)], points[i + 1]];
  if (!before || !after || i < 0) return before?.taken ?? 0;
  const gap = after.at - before.at;
  return gap < LONG_GAP_MS ? before.taken : before.taken + ((after.taken - before.taken) * (at - before.at)) / gap;
}
