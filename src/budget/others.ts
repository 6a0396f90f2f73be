import * as z from 'zod';
import { MS_PER_DAY, MS_PER_HOUR } from '../lib/duration.ts';
import type { UnixMs } from '../lib/time.ts';
import { unixMs } from './long-window.ts';

/** How much other users of the account had taken of a window at different times, oldest first. */
export const TakenByOthers = z.object({
  /** When the window began, to tell whether it is still the same. */
  since: unixMs,
  points: z.array(z.object({ at: unixMs, taken: z.number() })).min(1),
  /** What they are expected to take. */
  perDay: z.number().nonnegative(),
});
export type TakenByOthers = z.infer<typeof TakenByOthers>;

type Point = TakenByOthers['points'][number];

const DAYS_KEPT = 7;
const SPACING_MS = 4 * MS_PER_HOUR;
const LONG_GAP_MS = 12 * MS_PER_HOUR;
const RECENT_DAYS = 3;
/** A burst is not a steady rate, and it can span two days. */
const MAX_ODD_DAYS = 2;
const CLEARLY_MORE = 1.15;
/** Requests are kept for others beyond the end, because a 429 is worse than a few unused requests. */
const SPARE_MS = MS_PER_DAY / 2;

/**
 * Records how much others have taken of the window so far. The first figure says nothing about their rate. A figure can
 * only be too high, because our requests in flight count as theirs until they are answered. So a lower figure corrects
 * all earlier ones.
 */
export function noteTaken(known: TakenByOthers | undefined, taken: number, since: UnixMs, now: UnixMs): TakenByOthers {
  const past = known?.points.filter(({ at }) => at <= now) ?? [];
  const last = past.at(-1);
  if (!last) return { since, points: [{ at: now, taken }], perDay: 0 };
  // A new window starts at 0, while the rate of others continues.
  const offset = known?.since === since ? 0 : last.taken - taken;
  const level = past.map((point) => ({ at: point.at, taken: Math.min(point.taken - offset, taken) }));
  const oldest = now - (DAYS_KEPT * MS_PER_DAY + SPACING_MS);
  const kept = level.filter((_, i) => (level[i + 1]?.at ?? now) > oldest);
  const before = kept.at(-2);
  // The latest point is replaced until it is far enough from the one before it.
  const settled = before && last.at - before.at < SPACING_MS ? kept.slice(0, -1) : kept;
  const points = [...settled, { at: now, taken }];
  return { since, points, perDay: habitOf(points, now) };
}

/** Requests that others are expected to take from the last figure until `end`. */
export function keptForOthers(known: TakenByOthers | undefined, end: UnixMs): number {
  const { points = [], perDay = 0 } = known ?? {};
  const seenAt = points.at(-1)?.at ?? end;
  return (perDay * Math.max(0, end + SPARE_MS - seenAt)) / MS_PER_DAY;
}

/**
 * Requests per day: the average of the week, in which the two largest days count only as much as the third largest. If
 * each of the last three days was clearly above that, the smallest of them.
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
 * What others had taken at a time between two points. The increase counts at the later point, because a burst that is
 * spread over the whole interval would look like a steady rate over two days. Across a long gap it is spread evenly.
 */
function takenAt(points: readonly Point[], at: UnixMs): number {
  const i = points.findLastIndex((point) => point.at <= at);
  const [before, after] = [points[Math.max(0, i)], points[i + 1]];
  if (!before || !after || i < 0) return before?.taken ?? 0;
  const gap = after.at - before.at;
  return gap < LONG_GAP_MS ? before.taken : before.taken + ((after.taken - before.taken) * (at - before.at)) / gap;
}
