import { RECORDS_PER_PAGE } from './options.ts';
import type { Range } from './reading.ts';
import type { Machines } from './schema.ts';

/** What the next sweep has to know of those before it. */
export type Reach = NonNullable<Machines['reach']>;

/** Clients push every 60 s, the standalone pusher every 62 (api-facts 1.1). */
const MINUTE = 60;
/** What the first sweep reads: a push of each client, with some to spare. */
const FIRST_SECONDS = 75;
/**
 * At most so much of what came since the last sweep: it holds a push of each client, and older ones would say no more. Where
 * a sweep takes long, reading all would make the next one longer still.
 */
const ONE_PUSH = 62;
/** A push is on its way for so long. */
const MIN_OVERLAP = 2;
/** How late a record can come and still be found: the client's clock is behind, ours ahead, or the service late. */
const MAX_LATE = 300;
/** The phases of a minute are spread over so many sweeps. */
const SWEEPS_PER_MINUTE = 5;
const PART = MINUTE / SWEEPS_PER_MINUTE;
const RARE_SECONDS = 240;
/** Pushes are not even: so many records more than expected can be in a range. */
const UNEVEN = 3;

/** Where nothing is known. */
export const NO_REACH: Reach = { overlap: MIN_OVERLAP, phase: 0, due: 0 };

/**
 * The range of a sweep that begins at `seconds` (Unix seconds) for so many live machines: what came since the last complete
 * one began. `overlap` reaches further back where the records of all machines come late; that costs nothing, because as
 * much of the newest part is empty. So does what the last page has room for.
 */
export function mainStart({ beganAt, overlap }: Reach, live: number, seconds: number): number {
  if (beganAt === undefined || beganAt > seconds) return seconds - FIRST_SECONDS;
  const fresh = Math.min(seconds - beganAt, ONE_PUSH);
  const span = fresh + overlap;
  const pages = Math.max(1, Math.ceil((live * fresh) / MINUTE / RECORDS_PER_PAGE));
  // One record less than there is room for: pushes are not as even as that.
  const room = live === 0 ? Number.POSITIVE_INFINITY : ((pages * RECORDS_PER_PAGE - 1) * MINUTE) / live;
  const free = pages === 1 ? Math.min(room, MAX_LATE + FIRST_SECONDS) : 0;
  return Math.floor(seconds - Math.max(span, free));
}

/** A range of which no more than so many pages are read. */
export interface LateRange extends Range {
  readonly pages: number;
}

/** What the range of `mainStart` brought, and cost. */
export interface MainRange {
  readonly live: number;
  readonly requests: number;
  /** Of the process that had the most of them. */
  readonly records: number;
  /** Requests by name that are still to come, at least. */
  readonly named: number;
  /** Unix seconds. */
  readonly start: number;
}

/**
 * The range to read beside the main one, because each machine has a record in any minute that is five minutes old, however
 * late its records come. A part of that minute is read in each sweep, so that all phases are read within five, and no more
 * than the sweep may cost. Undefined: not now.
 */
export function lateRange(reach: Reach, main: MainRange, seconds: number): LateRange | undefined {
  const { live, requests, records, named, start } = main;
  if (reach.beganAt === undefined || seconds - start >= MAX_LATE + MINUTE) return undefined;
  const due = dueNow(reach, seconds);
  // Three times as many pages where page_size counts over all arrays.
  const perPage = Math.min(RECORDS_PER_PAGE, Math.max(1, records) / requests);
  const isFull = requests < 3 || records === 0 || perPage > RECORDS_PER_PAGE / 2;
  const pageSize = isFull ? RECORDS_PER_PAGE : perPage;
  const perSecond = records / Math.max(1, seconds - start - reach.overlap);
  // A second is shared by both ends of a range, and pushes are not as even as that.
  // Within a whole minute they are: each machine is in it once.
  const widthOf = (pages: number): number =>
    perSecond * MINUTE <= pages * pageSize ? MINUTE : (pages * pageSize - UNEVEN) / perSecond - 1;
  const left = Math.floor((maxRequests(live) * RECORDS_PER_PAGE) / pageSize - requests);
  // A few that are always asked for by name, because their records come late, do not keep others from being found.
  const pages =
    named > 0 && named <= Math.max(4, requests / 10) ? Math.max(left - named, Math.min(left, 3)) : left - named;
  const width = Math.floor(Math.min(due, widthOf(pages)));
  // A small fleet's minute fits on few pages, each of which is worth a request only once it is due as a whole.
  const parts = Math.min(SWEEPS_PER_MINUTE, Math.ceil(MINUTE / Math.max(1, widthOf(1))));
  // What is left of a minute of which a part was read does not wait for a whole one.
  const worth = Math.min(PART * Math.floor(SWEEPS_PER_MINUTE / parts), MINUTE - reach.phase);
  if (pages < 1 || width < 1 || due < worth) return undefined;
  const newest = seconds - MAX_LATE;
  // A whole minute has all phases wherever it begins: then it is the newest one.
  const end = width === MINUTE ? newest : newest - modulo(newest - (reach.phase + width), MINUTE);
  return { start: end - width, end, pages };
}

/** The most that a sweep costs in steady state; docs/performance.md has the bound in a table. */
function maxRequests(live: number): number {
  const pages = (live < 100 ? 1.25 : 1.14) * Math.ceil(live / RECORDS_PER_PAGE);
  return pages + Math.max(2, 0.04 * pages);
}

/** What is due at a sweep that begins at `seconds`: nothing where sweeps are far apart, because the budget is scarce then. */
function dueNow({ due, beganAt = 0 }: Reach, seconds: number): number {
  const since = seconds - beganAt;
  const part = since > RARE_SECONDS ? 0 : Math.min(PART, since / SWEEPS_PER_MINUTE);
  return Math.min(MINUTE, due + part);
}

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}

/** What the next sweep has to know after a complete one. `ages`: of the newest record of each machine found, seconds. */
export function nextReach(reach: Reach, beganAt: number, ages: readonly number[], late: Range | undefined): Reach {
  const width = late ? late.end - late.start : 0;
  return {
    beganAt,
    overlap: ages.length === 0 ? reach.overlap : overlapOf(ages),
    phase: modulo(reach.phase + width, MINUTE),
    due: reach.beganAt === undefined ? 0 : Math.max(0, dueNow(reach, beganAt) - width),
  };
}

/** Some clients' clocks are ahead of ours. */
const SHARE_AHEAD = 0.02;

/** Of machines that push evenly the youngest record is as old as records are late. */
function overlapOf(ages: readonly number[]): number {
  const sorted = ages.toSorted((a, b) => a - b);
  const youngest = sorted[Math.floor(sorted.length * SHARE_AHEAD)] ?? 0;
  return Math.min(Math.max(MIN_OVERLAP, Math.ceil(youngest)), MAX_LATE);
}
