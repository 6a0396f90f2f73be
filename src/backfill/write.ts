import { appendFileSync, createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { METRIC_UNITS } from '../facts/ether.ts';
import type { History } from '../sources/history.ts';
import { encodeHead, OPENMETRICS_EOF, sampleLine } from '../toolkit/exposition/encode.ts';
import type { Family, FamilyHead, Labels, Sample } from '../toolkit/exposition/family.ts';
import type { Clock } from '../toolkit/lib/clock.ts';
import { SECONDS_PER_DAY } from '../toolkit/lib/duration.ts';
import { median } from '../toolkit/lib/median.ts';
import type { Seconds, UnixSeconds } from '../toolkit/lib/time.ts';
import { syncDirectory } from '../toolkit/state/whole-file.ts';
import type { Plan } from './plan.ts';
import type { OutputSpan, Store } from './store.ts';

export interface SeriesOptions {
  /** Added to each sample. */
  readonly labels: Labels;
  /** Samples of other chains are dropped. Undefined keeps all. */
  readonly chain: string | undefined;
  /** After this time a sample is repeated, for a day and never beyond `end`. */
  readonly step: Seconds | undefined;
  readonly end: UnixSeconds;
}

export interface WriteOptions {
  readonly store: Store;
  readonly output: string;
  /** By the id of the source. */
  readonly histories: ReadonlyMap<string, History>;
  /** Whether histories have one record a day. */
  readonly isDaily: boolean;
  readonly series: SeriesOptions;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface Written {
  readonly files: string[];
  bytes: number;
  samples: number;
  records: number;
  /** The smallest median gap of a series. Infinity: no series has two records. */
  gapSeconds: Seconds;
}

/** Writes all files, after an interruption the complete ones too: later days need the facts of earlier ones. */
export async function writeAll(options: WriteOptions, plan: Plan): Promise<Written> {
  const written: Written = { files: [], bytes: 0, samples: 0, records: 0, gapSeconds: Number.POSITIVE_INFINITY };
  for (const span of outputSpans(options, plan)) await writeSpan(options, span, written);
  return written;
}

/**
 * The span of each file. For machines a UTC day: promtool reads a file once for each block that it creates from it, and
 * a day of a large fleet takes hundreds of megabytes. Daily records are few: one file holds them all.
 */
function outputSpans({ histories, isDaily }: WriteOptions, { slices, end }: Plan): OutputSpan[] {
  if (isDaily) return [{ from: 0, to: Number.MAX_SAFE_INTEGER }];
  const starts = slices.flatMap(({ source, range }) => {
    const history = histories.get(source);
    return history && 'start' in range ? [range.start - history.reachSeconds] : [];
  });
  const first = Math.floor(Math.min(...starts) / SECONDS_PER_DAY);
  const last = Math.floor(end / SECONDS_PER_DAY);
  return Array.from({ length: last - first + 1 }, (_, i) => ({
    from: (first + i) * SECONDS_PER_DAY,
    to: (first + i + 1) * SECONDS_PER_DAY,
  }));
}

/** Writes the samples of a span, if it has any. The file is complete before it gets its name. */
async function writeSpan(options: WriteOptions, span: OutputSpan, written: Written): Promise<void> {
  const { store, output, histories, series, clock, signal } = options;
  const scratch = await store.scratch();
  const spool = new FamilySpool(scratch);
  for (const [source, history] of histories) {
    for (const group of store.groups(source, span)) {
      // The store responds synchronously: without a pause, signals would not be handled.
      await clock.sleep(1, signal);
      const records = withoutDuplicates(history, group);
      written.records += records.length;
      written.gapSeconds = Math.min(written.gapSeconds, ...gapsOf(history, records));
      for (const family of history.families(records)) spool.add(family, samplesBySeries(family, series));
    }
  }
  if (spool.samples > 0) {
    const complete = join(scratch, 'complete');
    const file = written.files.length === 0 ? output : `${output}.${written.files.length + 1}`;
    written.bytes += await spool.writeTo(complete);
    written.samples += spool.samples;
    await rename(complete, file);
    await syncDirectory(dirname(file));
    written.files.push(file);
  }
  await rm(scratch, { recursive: true });
}

/** The first of several duplicates counts, as in a poll. */
function withoutDuplicates(history: History, records: readonly unknown[]): unknown[] {
  const last = new Map<string, number>();
  return records.filter((record) => {
    const stream = history.stream(record);
    const at = history.at(record);
    const isNew = last.get(stream) !== at;
    last.set(stream, at);
    return isNew;
  });
}

/** The median gap between the records of each stream: minutes that a machine missed do not count. */
function gapsOf(history: History, records: readonly unknown[]): Seconds[] {
  const streams = Map.groupBy(records, (record) => history.stream(record));
  return [...streams.values()].flatMap((stream) => {
    const times = stream.map((record) => history.at(record));
    const gaps = times.slice(1).map((at, i) => at - (times[i] ?? at));
    return median(gaps) ?? [];
  });
}

/** The samples of a family series by series, as OpenMetrics requires. A history gives each series in ascending time. */
function* samplesBySeries(family: Family, options: SeriesOptions): Generator<Sample> {
  const { chain } = options;
  const samples = family.samples.filter(({ labels }) => chain === undefined || (labels['chain'] ?? chain) === chain);
  // Values are enough: within a family the names are the same.
  const series = Map.groupBy(samples, ({ labels }) => Object.values(labels).join('\0'));
  for (const sample of [...series.values()].flat()) {
    // Created only now, so that each copy becomes garbage as soon as it is written.
    yield* repeated({ ...sample, labels: { ...sample.labels, ...options.labels } }, options);
  }
}

/** A value is valid until the next one, a day later. If the next one is missing, the gap remains. */
function* repeated(sample: Sample, { step, end }: SeriesOptions): Generator<Sample> {
  const { at } = sample;
  if (at === undefined) throw new TypeError('a sample of the past without its time');
  yield sample;
  if (step === undefined) return;
  const last = Math.min(end, at + SECONDS_PER_DAY - 1);
  for (let next = at + step; next <= last; next += step) yield { ...sample, at: next };
}

const CHUNK = 64 * 1024;

/** Accepts parts of families in any order, and writes complete families as one OpenMetrics exposition. */
class FamilySpool {
  /** A file for each family, with its lines so far. */
  readonly #folder: string;
  readonly #heads = new Map<string, FamilyHead>();
  samples = 0;

  /** @param folder An empty one. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @param samples Whole series, each in ascending time. */
  add(head: FamilyHead, samples: Iterable<Sample>): void {
    let lines = '';
    for (const sample of samples) {
      lines += sampleLine(head.name, sample);
      this.samples += 1;
      if (lines.length < CHUNK) continue;
      this.#append(head, lines);
      lines = '';
    }
    if (lines !== '') this.#append(head, lines);
  }

  #append({ name, type, help }: FamilyHead, lines: string): void {
    this.#heads.set(name, { name, type, help });
    appendFileSync(join(this.#folder, name), lines);
  }

  /** @returns The bytes written. */
  async writeTo(output: string): Promise<number> {
    await using handle = await open(output, 'w');
    for (const head of this.#heads.values()) {
      await handle.appendFile(encodeHead(head, 'openmetrics', METRIC_UNITS));
      for await (const lines of createReadStream(join(this.#folder, head.name))) await handle.appendFile(lines);
    }
    await handle.appendFile(OPENMETRICS_EOF);
    await handle.sync();
    return (await handle.stat()).size;
  }
}
