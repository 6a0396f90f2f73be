import { hash } from 'node:crypto';
import * as z from 'zod';
import { atStart, emptyLedger, Ledger, withKey } from '../budget/ledger.ts';
import { STATE_VERSION } from '../facts/version.ts';
import { type Entry, entrySchema, sourceId, withAnotherKey } from '../scheduler/entry.ts';
import type { Config } from '../sources/registry.ts';
import type { Source } from '../sources/source.ts';
import { systemClock } from '../toolkit/lib/clock.ts';
import { messageOf } from '../toolkit/lib/error-code.ts';
import type { Logger } from '../toolkit/lib/log.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { unusable } from '../toolkit/state/directory.ts';
import { StateOfOtherVersion } from '../toolkit/state/envelope.ts';
import { type FileStoreOptions, openFileStore } from '../toolkit/state/file.ts';
import { StateLocked } from '../toolkit/state/lock.ts';
import { Replica } from '../toolkit/state/replica.ts';
import type { StateStore } from '../toolkit/state/store.ts';

/** The names of the documents that are not those of a source. */
export const LEDGER = 'ledger';
/** Written by the first exporter that polls with this state. A backfill ends before it. */
export const FIRST_START = 'first-start';
export const FirstStart = z.object({ at: z.number() });

/** The program cannot use its state. The message is one line for the operator. */
export class StateRefused extends Error {
  override readonly name = 'StateRefused';
}

/** Keeps the state over restarts; to be closed at the end. */
export type Documents = StateStore & { close(): Promise<void> };

/** A store that keeps nothing, for the demo. */
export const NO_DOCUMENTS: Documents = {
  load: async () => undefined,
  save: async () => undefined,
  close: async () => undefined,
};

/**
 * The documents of the state, in files or in Redis. Redis may fail and recover later, but not at the start.
 * @throws StateRefused
 */
export async function openDocuments(
  { dir, redis }: Config['state'],
  log: Logger,
  onLost?: FileStoreOptions['onLost'],
): Promise<{ documents: Documents; replica?: Replica }> {
  try {
    if (!redis) return { documents: await openFileStore(dir, systemClock, log, { version: STATE_VERSION, onLost }) };
    const replica = await Replica.open(redis, systemClock, log, { version: STATE_VERSION });
    return { documents: replica, replica };
  } catch (error) {
    const saysAll = redis || error instanceof StateLocked || error instanceof StateOfOtherVersion;
    throw new StateRefused(saysAll ? messageOf(error) : unusable(dir, error), { cause: error });
  }
}

/** The state of the account and of each source, by its id. */
export interface State {
  readonly ledger: Ledger;
  readonly entries: ReadonlyMap<string, Entry>;
}

/**
 * The state that earlier processes stored. @throws StateRefused if it cannot be read now: a start without it would
 * overwrite it.
 */
export async function restore(
  documents: StateStore,
  sources: readonly Source[],
  key: string,
  now: UnixMs,
): Promise<State & { readonly isFirstStart: boolean }> {
  const ledger = atStart((await loadDocument(documents, LEDGER, Ledger)) ?? emptyLedger());
  const isFirstStart = (await loadDocument(documents, FIRST_START, FirstStart)) === undefined;
  const entries = await restoreEntries(documents, sources);
  return { ...underKey({ ledger, entries }, key, now), isFirstStart };
}

/** The state of these sources, read from the store if this process has none. @throws StateRefused */
export async function restoreEntries(
  documents: Pick<StateStore, 'load'>,
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

/** Pure. The state that remains valid when the program is started or reloaded with this key. */
export function underKey({ ledger, entries }: State, key: string, now: UnixMs): State {
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
    throw new StateRefused(`the state of ${name} cannot be read: ${messageOf(error)}`);
  }
}

/** Distinguishes keys without revealing them: a key has too much entropy to be guessed. */
export function fingerprintOf(key: string): string {
  return hash('sha256', `beaconchain-exporter ${key}`).slice(0, 16);
}
