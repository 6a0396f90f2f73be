import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SECONDS_PER_DAY } from '../lib/duration.ts';
import { syncDirectory } from '../lib/whole-file.ts';
import { FamilySpool } from './family-spool.ts';
import { type Group, type GroupsOptions, groupsIn } from './groups.ts';
import { BlockCounts, contains, type OutputSpan, outputSpans } from './output-spans.ts';
import type { Plan, WrittenSpan } from './plan.ts';
import { type SeriesOptions, samplesBySeries } from './series.ts';
import { SpanCounts } from './span-counts.ts';
import type { WorkFolder } from './work-folder.ts';

export interface WriteOptions extends GroupsOptions {
  readonly folder: WorkFolder;
  readonly output: string;
  readonly series: SeriesOptions;
  /** The maximum per file, unless a single block has more. */
  readonly maxSamples: number;
}

/** Writes the spans that are not written yet, and returns the plan with all of them. */
export async function writeAll(options: WriteOptions, plan: Plan, signal: AbortSignal): Promise<Plan> {
  let current = plan;
  for (const span of outputSpans(plan.slices, options.histories)) {
    signal.throwIfAborted();
    if (current.written.some(({ from }) => from === span.from)) continue;
    const written = await writeSpan(options, current, span, signal);
    current = { ...current, written: [...current.written, written] };
    options.store.save(current);
  }
  return current;
}

/** Writes a span into as many files as it needs. */
async function writeSpan(
  options: WriteOptions,
  plan: Plan,
  span: OutputSpan,
  signal: AbortSignal,
): Promise<WrittenSpan> {
  const scratch = await options.folder.scratch();
  const counts = new SpanCounts();
  const partsBefore = plan.written.reduce((sum, { parts }) => sum + parts.length, 0);
  const parts: WrittenSpan['parts'] = [];
  for (const [i, piece] of (await piecesOf(options, span, signal)).entries()) {
    // Each piece reads the groups of the whole span.
    const all = groupsIn(options, span, signal);
    const groups = i === 0 ? counts.counting(all) : all;
    const number = partsBefore + parts.length + 1;
    const file = number === 1 ? options.output : `${options.output}.${number}`;
    const part = await writePart(groups, piece, options.series, { folder: join(scratch, `part-${i}`), file });
    if (part) parts.push(part);
  }
  await rm(scratch, { recursive: true });
  return { from: span.from, parts, ...counts.result() };
}

/** The span, split where it may have too many samples for one file. */
async function piecesOf(options: WriteOptions, span: OutputSpan, signal: AbortSignal): Promise<OutputSpan[]> {
  const { series, maxSamples } = options;
  const repeats = series.step === undefined ? 1 : Math.ceil(SECONDS_PER_DAY / series.step);
  if (mostSamples(options, span) * repeats <= maxSamples) return [span];
  const counts = new BlockCounts();
  for await (const { history, records } of groupsIn(options, span, signal)) {
    for (const record of records) {
      const samples = history.families([record]).flatMap((family) => [...samplesBySeries(family, series)]);
      counts.add(history.at(record), samples.length);
    }
  }
  return counts.split(span, maxSamples);
}

/** The maximum number of samples from the records, each written once. */
function mostSamples({ store, histories }: WriteOptions, span: OutputSpan): number {
  return [...histories].reduce((sum, [source, { maxSamples }]) => sum + store.count(source, span) * maxSamples, 0);
}

/** Writes the samples of a piece; the file is complete before it gets its name. Undefined: there are none. */
async function writePart(
  groups: AsyncIterable<Group>,
  piece: OutputSpan,
  series: SeriesOptions,
  { folder, file }: { readonly folder: string; readonly file: string },
): Promise<WrittenSpan['parts'][number] | undefined> {
  await mkdir(folder);
  const spool = new FamilySpool(folder);
  for await (const { history, records } of groups) {
    const wanted = records.filter((record) => contains(piece, history.at(record)));
    if (wanted.length === 0) continue;
    const families = history.families(wanted);
    // Families compute their samples on first use and keep them, so each family is released once it is written.
    for (let family = families.shift(); family; family = families.shift()) {
      spool.add(family, samplesBySeries(family, series));
    }
  }
  if (spool.samples === 0) return undefined;
  const complete = join(folder, 'complete');
  const bytes = await spool.writeTo(complete);
  await rename(complete, file);
  await syncDirectory(dirname(file));
  await rm(folder, { recursive: true });
  return { file, bytes, samples: spool.samples };
}
