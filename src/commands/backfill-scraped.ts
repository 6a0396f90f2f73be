import { type Covered, OTHER_CLOCK_SECONDS, spansOf } from '../backfill/covered.ts';
import { PROCESS, ProcessRecord } from '../exporter/process-record.ts';
import { loadDocument } from '../exporter/state.ts';
import type { UnixMs, UnixSeconds } from '../lib/time.ts';
import { listed, utc } from '../lib/words.ts';
import type { PastRange, Span } from '../sources/history.ts';
import type { Source } from '../sources/source.ts';
import { type Entry, entrySchema, sourceId } from '../state/entry.ts';
import { peek } from '../state/file.ts';
import { endOfScrapes, type Scraped, scrapedNow, timingOf, UNKNOWN_START } from '../state/scraped.ts';
import type { StateStore } from '../state/store.ts';
import { BackfillRefused } from './backfill-errors.ts';
import type { BackfillOptions } from './backfill-flags.ts';

/** When a source was scraped, according to the state. `never`: it was not polled with this state. */
export type Scrapes = Covered | 'never';

/**
 * Reads the state without the lock, so a running exporter is not affected. Results are by the id of the source.
 * @throws StateRefused: if what was scraped is unknown, records would be written over it
 */
export async function readScrapes(dir: string, sources: readonly Source[], now: UnixMs): Promise<Map<string, Scrapes>> {
  const documents: Pick<StateStore, 'load'> = { load: (name, schema) => peek(dir, name, schema) };
  const process = await loadDocument(documents, PROCESS, ProcessRecord);
  const read = sources.map(async (source) => {
    const entry = await loadDocument(documents, sourceId(source), entrySchema(source));
    return [sourceId(source), scrapesOf(source, entry, process?.stoppedAt, now)] as const;
  });
  return new Map(await Promise.all(read));
}

export function scrapesOf(
  source: Source,
  entry: Entry | undefined,
  stoppedAt: UnixMs | undefined,
  now: UnixMs,
): Scrapes {
  if (!entry || entry.attempts === 0) return 'never';
  const scraped = scrapedNow(source, entry, timingOf(source, entry, now));
  return coveredBy(scraped, endOfScrapes(source, entry, stoppedAt, now));
}

/** The end of a span that has not ended, because JSON has no Infinity. */
const OPEN_END: UnixSeconds = Number.MAX_SAFE_INTEGER;

/** @param currentEnd When the current span ended; undefined: it has not ended. */
export function coveredBy({ ended, current }: Scraped, currentEnd: UnixSeconds = OPEN_END): Covered {
  return {
    ended: ended.map(withMargin),
    ...(current && { current: { ...withMargin({ start: current.start, end: currentEnd }), first: current.first } }),
  };
}

function withMargin({ start, end }: Span): Span {
  return { start: Math.max(0, start - OTHER_CLOCK_SECONDS), end: Math.min(OPEN_END, end + OTHER_CLOCK_SECONDS) };
}

/** What a run leaves out, by the id of the source, and what the user is told about it. */
export interface LeftOut {
  readonly covered: Readonly<Record<string, Covered>>;
  readonly notes: readonly string[];
}

type Wanted = Pick<BackfillOptions, 'source' | 'range' | 'isEndGiven'>;

/**
 * Pure. If records lie among scraped samples, counters decrease, and rate() treats each decrease as a restart.
 * @throws BackfillRefused if the range has such times by the user's own words, and `yes` is not given.
 */
export function leaveOut(wanted: Wanted, scrapes: ReadonlyMap<string, Scrapes>, yes: boolean, now: UnixMs): LeftOut {
  const entries = [...scrapes].filter((one): one is [string, Covered] => one[1] !== 'never');
  const notes = entries.length < scrapes.size ? [NEVER] : [];
  const { isEndGiven, source, range } = wanted;
  const isAssumed = isEndGiven || source === 'daily_returns';
  const hasUnknown = entries.some(([, one]) => spansOf(one).some(isOfUnknownStart));
  if (hasUnknown) notes.push(`${UNKNOWN}: ${isAssumed ? ASSUMED[source] : NOT_ASSUMED}`);
  const covered = Object.fromEntries(isAssumed ? entries.map(([id, one]) => [id, withKnownStart(one)]) : entries);
  const times = [...new Set(Object.values(covered).flatMap((one) => timesWithin(range, one, now)))];
  if (times.length === 0) return { covered, notes };
  if (!isEndGiven)
    return { covered, notes: [...notes, `Left out, because scrapes already cover it: ${listed(times)}.`] };
  const effect = `--end: scrapes cover ${listed(times)}. Records in these times make counters decrease, so rate() shows spikes.`;
  if (!yes)
    throw new BackfillRefused(`${effect}\nWithout --end, these times are left out. With --yes, they are written too.`);
  return { covered: {}, notes: [...notes, effect] };
}

const NEVER =
  'No exporter has polled this source with the same state.dir, so the backfill assumes that Prometheus has not scraped it yet. ' +
  'If it has, set --end to the time of the first scrape.';
const UNKNOWN = 'The time of the first scrape is unknown, because an earlier version wrote the state';
const ASSUMED = {
  machines: 'the backfill assumes that scrapes start at --end.',
  daily_returns: 'the backfill assumes that there are no scrapes from that time.',
};
const NOT_ASSUMED = 'set --end to the time of the first scrape to read the time before it.';

function isOfUnknownStart({ start }: Span): boolean {
  return start === UNKNOWN_START;
}

function withKnownStart({ ended, current }: Covered): Covered {
  return {
    ended: ended.filter((one) => !isOfUnknownStart(one)),
    ...(current && !isOfUnknownStart(current) && { current }),
  };
}

/** The times that are covered in a range, as text. */
function timesWithin(range: PastRange, covered: Covered, now: UnixMs): string[] {
  const whole = 'start' in range ? range : { start: 0, end: now / 1000 };
  const within = spansOf(covered).filter(({ start, end }) => start <= whole.end && end >= whole.start);
  return within.map((one) => {
    const from = isOfUnknownStart(one) ? 'all' : utc(one.start * 1000);
    return `${from} to ${one.end * 1000 > now ? 'now' : utc(one.end * 1000)}`;
  });
}
