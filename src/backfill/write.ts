import { appendFileSync, createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { History } from '../sources/history.ts';
import { encodeHead, OPENMETRICS_EOF, sampleLine } from '../toolkit/exposition/encode.ts';
import type { Family, FamilyHead, Labels, Sample } from '../toolkit/exposition/family.ts';
import type { Clock } from '../toolkit/lib/clock.ts';
import { SECONDS_PER_DAY } from '../toolkit/lib/duration.ts';
import type { Seconds, UnixSeconds } from '../toolkit/lib/time.ts';
import { syncDirectory } from '../toolkit/state/whole-file.ts';
import type { Plan, Written } from './plan.ts';
import type { OutputSpan, Store } from './store.ts';

export interface SeriesOptions {
  /** Added to each sample. */
  readonly labels: Labels;
  /** Samples of other chains are dropped. Samples without a chain are kept. */
  readonly chains: ReadonlySet<string>;
  /** After this time a sample is repeated, for a day and never beyond `end`. */
  readonly step: Seconds | undefined;
  readonly end: UnixSeconds;
}

export interface WriteOptions {
  readonly store: Store;
  readonly output: string;
  /** By the id of the source. */
  readonly histories: ReadonlyMap<string, History>;
  readonly series: SeriesOptions;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Writes the files that are not written yet, and returns the plan with all of them. */
export async function writeAll(options: WriteOptions, plan: Plan): Promise<Plan> {
  let current = plan;
  for (const span of outputSpans(options, plan)) {
    if (current.written.some(({ from }) => from === span.from)) continue;
    const number = current.written.filter(({ file }) => file !== undefined).length + 1;
    const file = number === 1 ? options.output : `${options.output}.${number}`;
    current = { ...current, written: [...current.written, await writeSpan(options, span, file)] };
    options.store.save(current);
  }
  return current;
}

/**
 * The span of each file. For machines a UTC day: promtool reads a file once for each block that it creates from it, and
 * a day of a large fleet takes hundreds of megabytes. Daily records are few: one file holds them all.
 */
function outputSpans({ histories }: WriteOptions, { slices, end }: Plan): OutputSpan[] {
  if ([...histories.values()].some(({ isDaily }) => isDaily)) return [{ from: 0, to: Number.MAX_SAFE_INTEGER }];
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

/** Writes the samples of a span. The file is complete before it gets its name. */
async function writeSpan(options: WriteOptions, span: OutputSpan, file: string): Promise<Written> {
  const { store, series } = options;
  const scratch = await store.scratch();
  const spool = new FamilySpool(scratch);
  let found: Written = { from: span.from, bytes: 0, samples: 0, records: 0 };
  for await (const { history, records } of groupsIn(options, span)) {
    found = withGroup(found, history, records);
    for (const family of history.families(records)) spool.add(family, samplesBySeries(family, series));
  }
  if (spool.samples > 0) {
    const complete = join(scratch, 'complete');
    found = { ...found, file, bytes: await spool.writeTo(complete), samples: spool.samples };
    await rename(complete, file);
    await syncDirectory(dirname(file));
  }
  await rm(scratch, { recursive: true });
  return found;
}

interface Group {
  readonly history: History;
  /** In ascending time, without duplicates. */
  readonly records: readonly unknown[];
}

/** The groups of a span, in an order that does not depend on the one in which records came. */
async function* groupsIn({ store, clock, histories, signal }: WriteOptions, span: OutputSpan): AsyncGenerator<Group> {
  for (const [source, history] of histories) {
    for (const records of wholeGroups(store.sorted(source, span))) {
      // The store responds synchronously: without a pause, signals would not be handled.
      await clock.sleep(1, signal);
      yield { history, records: withoutDuplicates(history, records) };
    }
  }
}

function* wholeGroups(sorted: Iterable<{ group: string; record: unknown }>): Generator<unknown[]> {
  let current: string | undefined;
  let records: unknown[] = [];
  for (const { group, record } of sorted) {
    if (group !== current && records.length > 0) {
      yield records;
      records = [];
    }
    current = group;
    records.push(record);
  }
  if (records.length > 0) yield records;
}

/** The first of several duplicates counts, as when the data are polled. */
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

function withGroup(found: Written, history: History, records: readonly unknown[]): Written {
  const gaps = [found.gapSeconds, ...gapsOf(history, records)].filter((gap) => gap !== undefined);
  return {
    ...found,
    records: found.records + records.length,
    ...(gaps.length > 0 && { gapSeconds: Math.min(...gaps) }),
  };
}

/** The median gap between the records of each stream: minutes that a machine missed do not count. */
function gapsOf(history: History, records: readonly unknown[]): Seconds[] {
  const streams = Map.groupBy(records, (record) => history.stream(record));
  return [...streams.values()].flatMap((stream) => {
    const times = stream.map((record) => history.at(record));
    const gaps = times.slice(1).map((at, i) => at - (times[i] ?? at));
    return gaps.sort((a, b) => a - b)[gaps.length >> 1] ?? [];
  });
}

/** The samples of a family series by series, as OpenMetrics requires. A history gives each series in ascending time. */
function* samplesBySeries(family: Family, options: SeriesOptions): Generator<Sample> {
  const isWanted = ({ chain }: Labels): boolean => chain === undefined || options.chains.has(chain);
  const samples = family.samples.filter(({ labels }) => isWanted(labels));
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

interface SpooledFamily {
  readonly head: FamilyHead;
  /** Its lines so far. */
  readonly file: string;
}

/** Accepts parts of families in any order, and writes complete families as one OpenMetrics exposition. */
class FamilySpool {
  readonly #folder: string;
  readonly #families = new Map<string, SpooledFamily>();
  #samples = 0;

  /** @param folder An empty one. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  get samples(): number {
    return this.#samples;
  }

  /** @param samples Whole series, each in ascending time. */
  add(head: FamilyHead, samples: Iterable<Sample>): void {
    let lines = '';
    for (const sample of samples) {
      lines += sampleLine(head.name, sample, 'openmetrics');
      this.#samples += 1;
      if (lines.length < CHUNK) continue;
      this.#append(head, lines);
      lines = '';
    }
    if (lines !== '') this.#append(head, lines);
  }

  #append({ name, type, help }: FamilyHead, lines: string): void {
    const file = join(this.#folder, `family-${this.#families.size}`);
    const family = this.#families.get(name) ?? { head: { name, type, help }, file };
    this.#families.set(name, family);
    appendFileSync(family.file, lines);
  }

  /** @returns The bytes written. */
  async writeTo(output: string): Promise<number> {
    await using handle = await open(output, 'w');
    for (const { head, file } of this.#families.values()) {
      await handle.appendFile(encodeHead(head, 'openmetrics'));
      for await (const lines of createReadStream(file)) await handle.appendFile(lines);
    }
    await handle.appendFile(OPENMETRICS_EOF);
    await handle.sync();
    return (await handle.stat()).size;
  }
}
