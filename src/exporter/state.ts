import { hash } from 'node:crypto';
import * as z from 'zod';
import { emptyLedger, Ledger, withKey } from '../budget/ledger.ts';
import type { Clock } from '../lib/clock.ts';
import { codeOf } from '../lib/error-code.ts';
import type { Logger } from '../lib/log.ts';
import type { UnixMs } from '../lib/time.ts';
import type { Totals } from '../metrics/totals.ts';
import { RedisState } from '../replica/redis.ts';
import { RedisLink, type RedisSettings } from '../replica/redis-link.ts';
import { Replica, type ReplicaOptions } from '../replica/replica.ts';
import type { KnownSource } from '../scheduler/views.ts';
import type { Source } from '../sources/source.ts';
import { unusable } from '../state/directory.ts';
import { type Entry, entrySchema, sourceId, withAnotherKey } from '../state/entry.ts';
import { StateOfOtherVersion } from '../state/envelope.ts';
import { FileStore, type FileStoreOptions } from '../state/file.ts';
import { StateLocked } from '../state/lock.ts';
import type { StateStore } from '../state/store.ts';

/** The names of the documents that are not those of a source. */
export const LEDGER = 'ledger';
export const TOTALS = 'exporter';
/** Written by the first exporter that polls with this state. A backfill ends before it. */
export const FIRST_START = 'first-start';
export const FirstStart = z.object({ at: z.number() });

export const SavedTotals = z.array(
  z.object({
    name: z.string(),
    samples: z.array(
      z.object({ labels: z.record(z.string(), z.string()), value: z.number(), suffix: z.string().exactOptional() }),
    ),
  }),
);

/** Why the program cannot keep its state; the message is one line for the operator. */
export class StateRefused extends Error {
  override readonly name = 'StateRefused';
}

/** A store that keeps nothing, for the demo. */
export const NO_DOCUMENTS: StateStore & { close(): Promise<void> } = {
  load: async () => undefined,
  save: async () => undefined,
  close: async () => undefined,
};

/** @throws StateRefused */
export async function openState(
  dir: string,
  clock: Clock,
  log: Logger,
  options: FileStoreOptions = {},
): Promise<FileStore> {
  try {
    return await FileStore.open(dir, clock, log, options);
  } catch (error) {
    if (error instanceof StateLocked || error instanceof StateOfOtherVersion)
      throw new StateRefused(error.message, { cause: error });
    throw new StateRefused(unusable(dir, error));
  }
}

/** A machine that is still starting up may be slow. */
const TRIES_AT_START = 3;

/** @throws StateRefused if Redis cannot be reached at the start. Later it may fail and recover. */
export async function openSharedState(
  redis: RedisSettings,
  clock: Clock,
  log: Logger,
  options: ReplicaOptions = {},
): Promise<Replica> {
  const state = new RedisState(new RedisLink(redis, clock), redis.prefix);
  const replica = new Replica(state, clock, log, options);
  for (let tries = 1; ; tries += 1) {
    try {
      await state.expectWritable();
      await replica.refresh();
      return replica;
    } catch (error) {
      if (tries < TRIES_AT_START) continue;
      await replica.close();
      throw unreadable(error);
    }
  }
}

/** The state in Redis cannot be read. */
export function unreadable(error: unknown): StateRefused {
  return new StateRefused(
    `the state in Redis cannot be used: ${error instanceof Error ? error.message : String(error)}`,
  );
}

/** The whole state: loaded from earlier processes, and saved for later ones. */
export interface State {
  readonly ledger: Ledger;
  /** What is shown of each source, by its id. */
  readonly entries: ReadonlyMap<string, Entry>;
  /** The exporter's own counters. */
  readonly totals: Totals;
  /** If this process polls: what it knows of the sources beyond `entries`. Not persisted. */
  readonly polled?: readonly KnownSource[];
}

/**
 * What earlier processes left, or the previous engine of this one (`before`).
 * @throws StateRefused if it cannot be read now: a start without it would overwrite it.
 */
export async function restore(
  documents: StateStore,
  sources: readonly Source[],
  key: string,
  now: UnixMs,
  before?: State,
): Promise<State> {
  const ledger = before?.ledger ?? (await loadDocument(documents, LEDGER, Ledger)) ?? emptyLedger();
  const totals = before?.totals ?? (await loadDocument(documents, TOTALS, SavedTotals)) ?? [];
  const entries = await restoreEntries(documents, sources, before?.entries);
  return { ...underKey({ ledger, entries }, key, now), totals };
}

/** What is known of these sources, otherwise what earlier processes left. @throws StateRefused */
export async function restoreEntries(
  documents: StateStore,
  sources: readonly Source[],
  known: ReadonlyMap<string, Entry> = new Map(),
): Promise<ReadonlyMap<string, Entry>> {
  const entries = new Map<string, Entry>();
  for (const source of sources) {
    const id = sourceId(source);
    const entry = known.get(id) ?? (await loadDocument(documents, id, entrySchema(source)));
    if (entry) entries.set(id, entry);
  }
  return entries;
}

type AccountState = Pick<State, 'ledger' | 'entries'>;

/** Pure. The state that remains valid when the program is started or reloaded with this key. */
export function underKey({ ledger, entries }: AccountState, key: string, now: UnixMs): AccountState {
  const fingerprint = fingerprintOf(key);
  const isOther = ledger.key.fingerprint !== '' && ledger.key.fingerprint !== fingerprint;
  return {
    ledger: withKey(ledger, fingerprint, now),
    entries: isOther ? new Map([...entries].map(([id, entry]) => [id, withAnotherKey(entry)])) : entries,
  };
}

/** @throws StateRefused */
export async function loadDocument<S extends z.ZodType>(documents: Pick<StateStore, 'load'>, name: string, schema: S) {
  try {
    return await documents.load(name, schema);
  } catch (error) {
    if (error instanceof StateOfOtherVersion) throw new StateRefused(error.message);
    throw new StateRefused(`the state of ${name} cannot be read: ${codeOf(error) ?? String(error)}`);
  }
}

/** Distinguishes keys without revealing them: a key has too much entropy to be guessed. */
export function fingerprintOf(key: string): string {
  return hash('sha256', `beaconchain-exporter ${key}`).slice(0, 16);
}
