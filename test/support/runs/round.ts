import { deepEqual } from 'node:assert/strict';
import type { Api } from '../../../src/api/client.ts';
import { type Entry, emptyEntry, entrySchema } from '../../../src/scheduler/entry.ts';
import type { BudgetView } from '../../../src/scheduler/paces.ts';
import { runRound } from '../../../src/scheduler/round.ts';
import { type SourceView, sourceViews } from '../../../src/scheduler/schedules.ts';
import { type Inputs, NO_INPUTS } from '../../../src/sources/read.ts';
import type { Source } from '../../../src/sources/source.ts';
import type { FakeApi } from '../answers/fake-api.ts';
import { noSignal } from '../time/timing.ts';
import { NO_QUOTA } from './scheduler-harness.ts';

export interface RoundOptions {
  readonly now: number;
  /** Requests a day that the budget allows. Default: any number. */
  readonly allowedPerDay?: number;
  /** What the other sources of the chain give. */
  readonly inputs?: Partial<Inputs>;
  readonly signal?: AbortSignal;
  /** The time that has held. Default: now. */
  readonly held?: number;
  /** The reads that have run since the program started. Default: all of them. */
  readonly tried?: ReadonlySet<string>;
  /** When the program started. Default: at this round. */
  readonly startedAt?: number;
  /** When it is known to have run before. */
  readonly aliveAt?: number | undefined;
}

export type RoundResult<T> = Awaited<ReturnType<typeof round<T>>>;

/**
 * One round of a source: the reads that are due. `ran` names them, `failure` is the first one. The entry passes through
 * JSON, as over a restart, and loses nothing.
 */
export async function round<T>(
  source: Source<T>,
  api: Api | FakeApi,
  before: Entry<T> | undefined,
  options: RoundOptions,
) {
  const { now, held = now, allowedPerDay, inputs, signal = noSignal(), startedAt = now, aliveAt } = options;
  const { tried = new Set(source.reads.map(({ name }) => name)) } = options;
  if ('at' in api) api.at = now;
  const agoOf = (name: string): number => now - (before?.reads[name]?.lastAttemptAt ?? now);
  // Safe, because only this source gets the values.
  const any = source as unknown as Source;
  const { entry, events, runs } = await runRound(any, before ?? emptyEntry(any), {
    api,
    clock: { now: () => now, monotonic: () => 0 },
    inputs: { ...NO_INPUTS, ...inputs },
    signal,
    scheduleOf: (current, at) => scheduleAt(source, current as Entry<T>, at, allowedPerDay, held),
    isPaceKnown: true,
    startedAt,
    aliveAt,
    tried: new Map([...tried].map((name) => [name, -agoOf(name)])),
  });
  const written = JSON.parse(JSON.stringify(entry));
  const saved: Entry<T> = entrySchema(source).parse(written);
  deepEqual(JSON.parse(JSON.stringify(saved)), written);
  const failure = runs.find((run) => run.failure)?.failure;
  return { entry: saved, value: saved.value, failure, events, ran: runs.map(({ read }) => read.name) };
}

/** How a source alone would run, and be shown, at a time. */
export function scheduleAt<T>(
  source: Source<T>,
  current: Entry<T> = emptyEntry(source),
  now: number,
  allowedPerDay = Number.POSITIVE_INFINITY,
  held = now,
): SourceView {
  const known = { source: source as unknown as Source, saved: current, current, running: false };
  const [view] = sourceViews([known], budgetOf(allowedPerDay), { now, held });
  return view as SourceView;
}

/** A budget that is only about requests a day. */
export function budgetOf(allowedPerDay = Number.POSITIVE_INFINITY): BudgetView {
  return { bucketOf: () => 'one', allowedPerDay: () => allowedPerDay, quotaOf: () => NO_QUOTA, keyAt: () => 0 };
}

/** An entry with this value, before the first attempt. */
export function entryWith<T>(source: Source<T>, value: T): Entry<T> {
  return { ...emptyEntry(source), value };
}
