import { z } from 'zod';
import { type PastRange, type Span, WINDOWS } from '../sources/history.ts';

/** One sequence of pages: its place in the plan, whose it is, and what it covers. */
export const Slice = z.object({
  /** Never used again, also not by what a slice is cut into. */
  id: z.number().int().nonnegative(),
  /** The id of the source. */
  source: z.string(),
  range: z.union([z.object({ start: z.number(), end: z.number() }), z.object({ window: z.enum(WINDOWS) })]),
  /** Requests that it was expected to take. */
  expected: z.number(),
});
export type Slice = z.infer<typeof Slice>;

/** What was written of a span of time. */
export const WrittenWindow = z.object({
  from: z.number(),
  parts: z.array(z.object({ file: z.string(), bytes: z.number(), samples: z.number() })),
  records: z.number(),
  /** Records that came more than once. */
  duplicates: z.number(),
  /** Days between the first and the last that are not there; of machines 0. */
  missingDays: z.number(),
  /** Seconds between the records of the series with the closest ones. */
  spacingSeconds: z.number().exactOptional(),
});
export type WrittenWindow = z.infer<typeof WrittenWindow>;

/** What an interrupted run must know to go on: it survives beside the output. Times are Unix seconds. */
export const Plan = z.object({
  version: z.literal(1),
  /** What was asked for, to tell another question from the same one. */
  request: z.record(z.string(), z.unknown()),
  /** When the first run began: nothing is said of later times. */
  now: z.number(),
  /** Oldest first. */
  slices: z.array(Slice),
  nextId: z.number(),
  /** Full resolution only: the longest slice that is known to come in full. */
  fullSeconds: z.number().exactOptional(),
  /** Full resolution only: the shortest slice that is known to be thinned. */
  thinnedSeconds: z.number().exactOptional(),
  /** Full resolution only: series whose records are further apart than usual, with the seconds between them. */
  slow: z.array(z.tuple([z.string(), z.number()])),
  /** Files that are complete. */
  written: z.array(WrittenWindow),
});
export type Plan = z.infer<typeof Plan>;

/** Shorter ones are not cut: what is sparse in an hour is sparse because nothing more was sent. */
const MIN_SLICE_SECONDS = 3_600;

/**
 * Cuts a span into slices of at most `seconds`, oldest first. Neighbours share a second, because whether the service
 * counts a record of half past a second to that second is not documented; what comes twice is told once.
 */
export function spansOf({ start, end }: Span, seconds: number): Span[] {
  const count = Math.max(1, Math.ceil((end - start) / seconds));
  return Array.from({ length: count }, (_, i) => ({
    start: start + i * seconds,
    end: Math.min(end, start + (i + 1) * seconds),
  }));
}

export function canBeCut(slice: Slice): boolean {
  return (lengthOf(slice) ?? 0) > MIN_SLICE_SECONDS;
}

/** Slices of these ranges, of which each is expected to take its share of the requests. */
export function planned(source: string, ranges: readonly PastRange[], requests: number, firstId: number): Slice[] {
  const lengths = ranges.map((range) => ('start' in range ? range.end - range.start : 1));
  const whole = lengths.reduce((sum, length) => sum + length, 0);
  return ranges.map((range, i) => ({
    id: firstId + i,
    source,
    range,
    expected: (requests * (lengths[i] ?? 0)) / whole,
  }));
}

/** The plan with the slice in two halves; undefined where it is too short for that. */
export function cut(plan: Plan, slice: Slice): Plan | undefined {
  const { range } = slice;
  if (!('start' in range) || !canBeCut(slice)) return undefined;
  const halves = spansOf(range, Math.ceil((range.end - range.start) / 2)).map((half, i) => ({
    ...slice,
    id: plan.nextId + i,
    range: half,
    expected: slice.expected / 2,
  }));
  return {
    ...plan,
    slices: plan.slices.flatMap((one) => (one.id === slice.id ? halves : [one])),
    nextId: plan.nextId + halves.length,
  };
}

/** Undefined for an evaluation window. */
export function lengthOf({ range }: Slice): number | undefined {
  return 'start' in range ? range.end - range.start : undefined;
}
