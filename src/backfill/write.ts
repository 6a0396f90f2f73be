import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SECONDS_PER_DAY } from '../lib/duration.ts';
import { syncDirectory } from '../lib/whole-file.ts';
import type { History } from '../sources/history.ts';
import { Buckets } from './buckets.ts';
import { FamilySpool } from './family-spool.ts';
import { groupsOf, missingDays } from './groups.ts';
import { readPages } from './page-log.ts';
import type { Plan, Slice, WrittenWindow } from './plan.ts';
import { inSeries, type Telling } from './series.ts';
import { Spacing } from './spacing.ts';
import { Census, type Window } from './windows.ts';
import type { WorkFolder } from './work-folder.ts';

export interface Writing {
  readonly folder: WorkFolder;
  readonly output: string;
  readonly histories: ReadonlyMap<string, History>;
  readonly telling: Telling;
  /** Of one file, unless two hours alone have more. */
  readonly maxSamples: number;
}

/** So much of what was read is held in memory at once. */
const BUCKET_BYTES = 1024 * 1024;
const MAX_BUCKETS = 256;

/** Writes the records of a span of time into as many files as they need; each is complete before it bears its name. */
export async function writeWindow(
  writing: Writing,
  plan: Plan,
  window: Window,
  signal: AbortSignal,
): Promise<WrittenWindow> {
  const scratch = await writing.folder.scratch();
  const sorted = await sort(writing, plan, window, scratch);
  const tally = new Tally();
  const before = plan.written.reduce((sum, { parts }) => sum + parts.length, 0);
  const parts = [];
  const pieces = await piecesOf(writing, sorted, window, signal);
  for (const piece of pieces ?? [window]) {
    const number = before + parts.length + 1;
    const part = await writePart(
      writing,
      sorted,
      piece,
      { scratch, number, tally: piece === window ? tally : undefined },
      signal,
    );
    if (part) parts.push(part);
  }
  if (pieces) for await (const group of eachGroup(writing, sorted, signal)) tally.add(group);
  await rm(scratch, { recursive: true });
  return { from: window.from, parts, ...tally.result() };
}

/** Counts what is in a window. */
class Tally {
  #records = 0;
  #duplicates = 0;
  #missingDays = 0;
  #spacingSeconds = Number.POSITIVE_INFINITY;

  add({ history, records, duplicates }: Group): void {
    this.#records += records.length;
    this.#duplicates += duplicates;
    this.#missingDays += missingDays(history, records);
    const spacing = new Spacing();
    for (const record of records) spacing.add(history.stream(record), history.at(record));
    this.#spacingSeconds = Math.min(this.#spacingSeconds, spacing.closest() ?? Number.POSITIVE_INFINITY);
  }

  result(): Pick<WrittenWindow, 'records' | 'duplicates' | 'missingDays' | 'spacingSeconds'> {
    const spacing = this.#spacingSeconds;
    return {
      records: this.#records,
      duplicates: this.#duplicates,
      missingDays: this.#missingDays,
      ...(Number.isFinite(spacing) ? { spacingSeconds: spacing } : {}),
    };
  }
}

type Sorted = ReadonlyMap<string, Buckets>;

/** Sorts the records of a window by source and group. */
async function sort({ folder, histories }: Writing, plan: Plan, window: Window, scratch: string): Promise<Sorted> {
  const sorted = new Map<string, Buckets>();
  for (const [source, history] of histories) {
    const slices = plan.slices.filter((slice) => slice.source === source && mayTouch(slice, history, window));
    const sizes = await Promise.all(slices.map((slice) => folder.sizeOf(slice)));
    const count = Math.ceil(sizes.reduce((sum, size) => sum + size, 0) / BUCKET_BYTES);
    const path = join(scratch, `records-${sorted.size}`);
    await mkdir(path);
    const buckets = new Buckets(path, Math.min(MAX_BUCKETS, Math.max(1, count)));
    for (const slice of slices) {
      for await (const { records } of readPages(folder.pagesOf(slice))) {
        for (const record of records) {
          const at = history.at(record);
          if (at >= window.from && at < window.to) buckets.add(history.group(record), record);
        }
      }
    }
    buckets.close();
    sorted.set(source, buckets);
  }
  return sorted;
}

function mayTouch({ range }: Slice, { reachSeconds }: History, { from, to }: Window): boolean {
  return !('start' in range) || (range.start - reachSeconds < to && range.end + 1 + reachSeconds >= from);
}

interface Group {
  readonly history: History;
  /** Ascending, each once. */
  readonly records: readonly unknown[];
  readonly duplicates: number;
}

async function* eachGroup({ histories }: Writing, sorted: Sorted, signal: AbortSignal): AsyncGenerator<Group> {
  for (const [source, buckets] of sorted) {
    const history = histories.get(source);
    if (!history) throw new TypeError(`no source ${source}`);
    for await (const found of buckets.read()) {
      signal.throwIfAborted();
      for (const group of groupsOf(history, found)) yield { history, ...group };
    }
  }
}

/** The window, cut in time so that each piece has few enough samples; undefined: it need not be. */
async function piecesOf(
  writing: Writing,
  sorted: Sorted,
  window: Window,
  signal: AbortSignal,
): Promise<Window[] | undefined> {
  const { telling, maxSamples, histories } = writing;
  const repeats = telling.step === undefined ? 1 : Math.ceil(SECONDS_PER_DAY / telling.step);
  const most = [...sorted].reduce(
    (sum, [source, { records }]) => sum + records * (histories.get(source)?.mostSamples ?? 0),
    0,
  );
  if (most * repeats <= maxSamples) return undefined;
  const census = new Census();
  for await (const group of eachGroup(writing, sorted, signal)) {
    for (const record of group.records) {
      const families = group.history.families([record]);
      const samples = families.flatMap((family) => [...inSeries(family, telling)]).length;
      census.add(group.history.at(record), samples);
    }
  }
  return census.cut(window, maxSamples);
}

async function writePart(
  writing: Writing,
  sorted: Sorted,
  { from, to }: Window,
  { scratch, number, tally }: { scratch: string; number: number; tally: Tally | undefined },
  signal: AbortSignal,
): Promise<WrittenWindow['parts'][number] | undefined> {
  const path = join(scratch, `part-${number}`);
  await mkdir(path);
  const spool = new FamilySpool(path);
  for await (const group of eachGroup(writing, sorted, signal)) {
    tally?.add(group);
    const { history, records } = group;
    const wanted = records.filter((record) => history.at(record) >= from && history.at(record) < to);
    if (wanted.length === 0) continue;
    const families = history.families(wanted);
    // Let go one by one: their samples, worked out when they are read, are most of what is held.
    for (let family = families.shift(); family; family = families.shift()) {
      spool.add(family, inSeries(family, writing.telling));
    }
  }
  if (spool.samples === 0) return undefined;
  const complete = join(path, 'complete');
  const bytes = await spool.writeTo(complete);
  const file = number === 1 ? writing.output : `${writing.output}.${number}`;
  await rename(complete, file);
  await syncDirectory(dirname(file));
  await rm(path, { recursive: true });
  return { file, bytes, samples: spool.samples };
}
