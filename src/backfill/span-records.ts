import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { History } from '../sources/history.ts';
import { groupsOf } from './groups.ts';
import { contains, mayHoldRecordsOf, type OutputSpan } from './output-spans.ts';
import { readPages } from './page-log.ts';
import { Partitions } from './partitions.ts';
import type { Plan } from './plan.ts';
import type { WorkFolder } from './work-folder.ts';

export interface Group {
  readonly history: History;
  /** In ascending time, without duplicates. */
  readonly records: readonly unknown[];
  readonly duplicates: number;
}

/** About as much of the pages is in memory at a time. */
const PARTITION_BYTES = 1024 * 1024;
const MAX_PARTITIONS = 256;

/** The records of an output span, on disk, to be read by group. */
export type SpanRecords = ReadonlyMap<History, Partitions>;

/** Copies the records of a span from the pages into `scratch`. */
export async function collectRecords(
  { folder, histories }: { readonly folder: WorkFolder; readonly histories: ReadonlyMap<string, History> },
  { slices }: Plan,
  span: OutputSpan,
  scratch: string,
): Promise<SpanRecords> {
  const bySource = new Map<History, Partitions>();
  for (const [source, history] of histories) {
    const wanted = slices.filter((slice) => slice.source === source && mayHoldRecordsOf(slice, history, span));
    const sizes = await Promise.all(wanted.map((slice) => folder.sizeOf(slice)));
    const count = Math.ceil(sizes.reduce((sum, size) => sum + size, 0) / PARTITION_BYTES);
    const path = join(scratch, `records-${bySource.size}`);
    await mkdir(path);
    const partitions = new Partitions(path, Math.min(MAX_PARTITIONS, Math.max(1, count)));
    for (const slice of wanted) {
      for await (const { records } of readPages(folder.pagesOf(slice))) {
        for (const record of records) {
          if (contains(span, history.at(record))) partitions.add(history.group(record), record);
        }
      }
    }
    partitions.close();
    bySource.set(history, partitions);
  }
  return bySource;
}

/** Samples that the records give at most, each written once. */
export function maxSamplesOf(records: SpanRecords): number {
  return [...records].reduce((sum, [{ maxSamples }, partitions]) => sum + partitions.records * maxSamples, 0);
}

export async function* groupsIn(records: SpanRecords, signal: AbortSignal): AsyncGenerator<Group> {
  for (const [history, partitions] of records) {
    for await (const found of partitions.read()) {
      signal.throwIfAborted();
      for (const group of groupsOf(history, found)) yield { history, ...group };
    }
  }
}
