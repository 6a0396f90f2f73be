import type { Seconds, UnixSeconds } from '../../lib/time.ts';
import type { Span } from '../history.ts';
import { MAX_PUSH_SECONDS, RECORDS_PER_PAGE } from './options.ts';
import type { Machines } from './schema.ts';

/** What a sweep needs to know about earlier sweeps. */
export type Reach = NonNullable<Machines['reach']>;

/** Each client pushes once in this time (api-facts 1.1). */
const MINUTE = 60;
/** The first sweep reads this much, so that each client has pushed at least once. */
const FIRST_SECONDS = 75;
/** The maximum delivery time of a push. */
const MIN_OVERLAP_SECONDS = 2;
/**
 * The maximum delay with which a record is still found. The client's clock may be behind, ours ahead, or the service
 * slow.
 */
const MAX_LATE_SECONDS = 300;
/** One minute of late records is read in parts, over this many sweeps. */
const SWEEPS_PER_MINUTE = 5;
const PART_SECONDS = MINUTE / SWEEPS_PER_MINUTE;
/** Sweeps that are further apart than this indicate a scarce budget. */
const RARE_SECONDS = 240;
/** Pushes are not evenly spread: a range can have this many records more than expected. */
const SPARE_RECORDS = 3;

/** Before the first sweep. */
export const NO_REACH: Reach = { overlap: MIN_OVERLAP_SECONDS, phase: 0, due: 0 };

/**
 * Where the range of a sweep that begins at `seconds` starts, with `live` machines. It covers what came since the last
 * complete sweep began. It reaches back further by `overlap` where the records of all machines come late. That costs
 * nothing, because an equal part at the newest end is still empty. It also reaches back as far as the last page has
 * space.
 */
export function mainStart({ beganAt, overlap }: Reach, live: number, seconds: UnixSeconds): UnixSeconds {
  if (beganAt === undefined || beganAt > seconds) return seconds - FIRST_SECONDS;
  // Older pushes add no information. After a long sweep, reading them would make the next one even longer.
  const fresh = Math.min(seconds - beganAt, MAX_PUSH_SECONDS);
  const span = fresh + overlap;
  const pages = Math.max(1, Math.ceil((live * fresh) / MINUTE / RECORDS_PER_PAGE));
  // One record less than fits, because pushes are not evenly spread.
  const room = live === 0 ? Number.POSITIVE_INFINITY : ((pages * RECORDS_PER_PAGE - 1) * MINUTE) / live;
  const free = pages === 1 ? Math.min(room, MAX_LATE_SECONDS + FIRST_SECONDS) : 0;
  return Math.floor(seconds - Math.max(span, free));
}

/** A range, and the maximum number of its pages to read. */
export interface LateRange extends Span {
  readonly pages: number;
}

/** The result and the cost of reading the range of `mainStart`. */
export interface MainRange {
  readonly live: number;
  readonly requests: number;
  /** The number of records of the process with the most records. */
  readonly records: number;
  /** The minimum number of requests by name that follow. */
  readonly named: number;
  readonly start: UnixSeconds;
}

/**
 * An additional range to read, for records that come late. Five minutes ago, every machine has a record in each minute,
 * even if its records come late. Each sweep reads a part of such a minute, within the allowed cost of a sweep, so that
 * five sweeps read a whole minute. Undefined: nothing this time.
 */
export function lateRange(reach: Reach, main: MainRange, seconds: UnixSeconds): LateRange | undefined {
  const { live, requests, records, named, start } = main;
  if (reach.beganAt === undefined || seconds - start >= MAX_LATE_SECONDS + MINUTE) return undefined;
  const due = dueNow(reach, seconds);
  // If page_size counts the records of all three arrays, there are three times as many pages.
  const perPage = Math.min(RECORDS_PER_PAGE, Math.max(1, records) / requests);
  const isFull = requests < 3 || records === 0 || perPage > RECORDS_PER_PAGE / 2;
  const pageSize = isFull ? RECORDS_PER_PAGE : perPage;
  const perSecond = records / Math.max(1, seconds - start - reach.overlap);
  // Minus one, because both end seconds belong to a range, and minus what uneven pushes add. A whole minute needs
  // neither, because each machine is in it once.
  const widthOf = (pages: number): number =>
    live < pages * pageSize ? MINUTE : Math.min(MINUTE, (pages * pageSize - SPARE_RECORDS) / perSecond - 1);
  const left = Math.floor((maxRequests(live) * RECORDS_PER_PAGE) / pageSize - requests);
  // A few machines that are always requested by name must not use up the requests that find the others.
  const affordable =
    named > 0 && named <= Math.max(4, requests / 10) ? Math.max(left - named, Math.min(left, 3)) : left - named;
  // Earlier sweeps waited for a whole minute, which fitted on a page until a machine was added.
  const isOutgrown = due === MINUTE && reach.phase === 0 && requests <= 2 && affordable === 1 && widthOf(1) < MINUTE;
  const pages = isOutgrown ? 2 : affordable;
  const width = Math.floor(Math.min(due, widthOf(pages)));
  // One minute of a small fleet fits on a few pages. A page is requested only when all of it is due.
  const parts = Math.min(SWEEPS_PER_MINUTE, Math.ceil(MINUTE / Math.max(1, widthOf(1))));
  // If a part of a minute was read, the rest does not wait until a whole minute is due.
  const worth = Math.min(PART_SECONDS * Math.floor(SWEEPS_PER_MINUTE / parts), MINUTE - reach.phase);
  if (pages < 1 || width < 1 || due < worth) return undefined;
  const newest = seconds - MAX_LATE_SECONDS;
  // Any whole minute contains every machine, so the newest one is read.
  const end = width === MINUTE ? newest : newest - modulo(newest - (reach.phase + width), MINUTE);
  return { start: end - width, end, pages };
}

/** The maximum cost of a sweep in steady state; docs/internals/performance.md has the bound in a table. */
function maxRequests(live: number): number {
  const pages = (live < 100 ? 1.25 : 1.14) * Math.ceil(live / RECORDS_PER_PAGE);
  return pages + Math.max(2, 0.04 * pages);
}

/** Seconds of late records that are due at `seconds`. No more become due while the budget is scarce. */
function dueNow({ due, beganAt = 0 }: Reach, seconds: UnixSeconds): Seconds {
  const since = seconds - beganAt;
  const part = since > RARE_SECONDS ? 0 : Math.min(PART_SECONDS, since / SWEEPS_PER_MINUTE);
  return Math.min(MINUTE, due + part);
}

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}

/**
 * What the next sweep needs to know after a complete one. `ages`: the ages of the newest records of the machines found.
 */
export function nextReach(reach: Reach, beganAt: UnixSeconds, ages: readonly Seconds[], late: Span | undefined): Reach {
  const width = late ? late.end - late.start : 0;
  return {
    beganAt,
    overlap: ages.length === 0 ? reach.overlap : overlapOf(ages),
    phase: modulo(reach.phase + width, MINUTE),
    due: reach.beganAt === undefined ? 0 : Math.max(0, dueNow(reach, beganAt) - width),
  };
}

/** Whether a machine that pushes may have no newer record than this, because its records come late. */
export function isLate(age: number): boolean {
  return age <= MAX_LATE_SECONDS + MAX_PUSH_SECONDS;
}

/** The clocks of some clients are ahead of ours: this share of the machines is left out. */
const SHARE_AHEAD = 0.02;

/** If pushes are evenly spread, the age of the youngest record is the delay of records. */
function overlapOf(ages: readonly number[]): number {
  const sorted = ages.toSorted((a, b) => a - b);
  const youngest = sorted[Math.floor(sorted.length * SHARE_AHEAD)] ?? 0;
  return Math.min(Math.max(MIN_OVERLAP_SECONDS, Math.ceil(youngest)), MAX_LATE_SECONDS);
}
