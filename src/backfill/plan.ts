import * as z from 'zod';
import type { UnixSeconds } from '../lib/time.ts';
import { type PastRange, type Span, WINDOWS } from '../sources/history.ts';
import { Covered } from './covered.ts';

/** One sequence of pages. */
export const Slice = z.object({
  /** Never used again, not even by the halves of this slice. */
  id: z.number().int().nonnegative(),
  /** The id of the source. */
  source: z.string(),
  range: z.union([z.object({ start: z.number(), end: z.number() }), z.object({ window: z.enum(WINDOWS) })]),
  /** The number of requests that it was expected to take. */
  expected: z.number(),
});
export type Slice = z.infer<typeof Slice>;

/** The files of an output span, and what is in them. */
export const WrittenSpan = z.object({
  from: z.number(),
  parts: z.array(z.object({ file: z.string(), bytes: z.number(), samples: z.number() })),
  records: z.number(),
  /** Records that came more than once. */
  duplicates: z.number(),
  /** Days without a record between the first and the last; 0 for machines. */
  missingDays: z.number(),
  /** Seconds between records, of the series with the closest ones. */
  spacingSeconds: z.number().exactOptional(),
});
export type WrittenSpan = z.infer<typeof WrittenSpan>;

/** What an interrupted run needs to continue. It is stored next to the output. Times are Unix seconds. */
export const Plan = z.object({
  version: z.literal(2),
  /** The flags that decide what is read and written: a run is resumed only with the same. */
  flags: z.record(z.string(), z.unknown()),
  /** The chains that it reads. */
  chains: z.array(z.string()),
  /** What is left out, by the id of the source. */
  covered: z.record(z.string(), Covered),
  /** When the first run began. Nothing later is written. */
  now: z.number(),
  /** Oldest first. */
  slices: z.array(Slice),
  nextId: z.number(),
  /** Full resolution only: the longest slice that is known to come in full. */
  fullSeconds: z.number().exactOptional(),
  /** Full resolution only: the shortest slice that is known to be thinned. */
  thinnedSeconds: z.number().exactOptional(),
  /** Full resolution only: series with records further apart than usual, and the seconds between them. */
  slow: z.array(z.tuple([z.string(), z.number()])),
  /** Complete files. */
  written: z.array(WrittenSpan),
});
export type Plan = z.infer<typeof Plan>;

/** The plan of a new run. */
export function newPlan(
  given: Pick<Plan, 'flags' | 'chains' | 'covered'>,
  now: UnixSeconds,
  slices: readonly Slice[],
): Plan {
  return { version: 2, ...given, now, slices: [...slices], nextId: slices.length, slow: [], written: [] };
}

/** Shorter slices are not halved: if records are sparse within an hour, the clients sent no more. */
const MIN_HALVED_SECONDS = 3_600;

/**
 * Splits a span into spans of at most `seconds`, oldest first. Neighbours share one second, because it is not
 * documented to which second a record with a fraction belongs. Duplicate records are written once.
 */
export function splitSpan({ start, end }: Span, seconds: number): Span[] {
  const count = Math.max(1, Math.ceil((end - start) / seconds));
  return Array.from({ length: count }, (_, i) => ({
    start: start + i * seconds,
    end: Math.min(end, start + (i + 1) * seconds),
  }));
}

/** A slice for each range, which is expected to take requests in proportion to its length. */
export function slicesOf(source: string, ranges: readonly PastRange[], requests: number, firstId: number): Slice[] {
  const lengths = ranges.map((range) => ('start' in range ? range.end - range.start : 1));
  const total = lengths.reduce((sum, length) => sum + length, 0);
  return ranges.map((range, i) => ({
    id: firstId + i,
    source,
    range,
    expected: (requests * (lengths[i] ?? 0)) / total,
  }));
}

/** Undefined for an evaluation window. */
export function lengthSeconds({ range }: Slice): number | undefined {
  return 'start' in range ? range.end - range.start : undefined;
}

export function canBeHalved(slice: Slice): boolean {
  return (lengthSeconds(slice) ?? 0) > MIN_HALVED_SECONDS;
}

/** The plan with the slice replaced by its two halves. @throws TypeError if the slice cannot be halved. */
export function halve(plan: Plan, slice: Slice): Plan {
  const { range } = slice;
  if (!('start' in range) || !canBeHalved(slice)) throw new TypeError(`slice ${slice.id} cannot be halved`);
  const halves = splitSpan(range, Math.ceil((range.end - range.start) / 2)).map((half, i) => ({
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
