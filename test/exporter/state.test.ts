import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { emptyLedger, opensAt, sent, withKey } from '../../src/budget/ledger.ts';
import {
  type Documents,
  FIRST_START,
  fingerprintOf,
  LEDGER,
  NO_DOCUMENTS,
  openDocuments,
  restore,
  StateRefused,
} from '../../src/exporter/state.ts';
import { emptyEntry, sourceId } from '../../src/scheduler/entry.ts';
import type { StateStore } from '../../src/toolkit/state/store.ts';
import { temporaryFolder } from '../support/files/files.ts';
import { BOTH_CHAINS, configured } from '../support/runs/default-config.ts';
import { entryOf } from '../support/runs/known.ts';
import { MINUTE, NOW } from '../support/time/timing.ts';

const KEY = 'a-key-that-nobody-may-see';
const BUDGET_OPTIONS = { utilization: 0.9, perMonth: 1_000 };
const SILENT = pino({ enabled: false });
const SOURCES = configured(BOTH_CHAINS);
const NEW = withKey(emptyLedger(), fingerprintOf(KEY), NOW);

async function documentsIn(dir = temporaryFolder()): Promise<Documents> {
  const { documents } = await openDocuments({ dir, redis: undefined }, SILENT);
  onTestFinished(() => documents.close());
  return documents;
}

function restored(documents: StateStore, now = NOW) {
  return restore(documents, SOURCES, KEY, now);
}

it('is empty at the first start, except for the key', async () => {
  for (const documents of [await documentsIn(), NO_DOCUMENTS]) {
    expect(await restored(documents)).toEqual({ ledger: NEW, entries: new Map(), isFirstStart: true });
  }
});

it('loads the ledger, the first start, and each source by its name and chain', async () => {
  const documents = await documentsIn();
  const { ledger: first } = await restored(documents);
  const used = sent(first, 'route', BUDGET_OPTIONS, NOW);
  const ledger = { ...used, key: { ...used.key, since: NOW } };
  const entries = new Map(
    SOURCES.map((source, i) => [sourceId(source), entryOf(source, { lastAttemptAt: NOW + i }, { leftOut: ['head'] })]),
  );
  await documents.save(LEDGER, ledger);
  await documents.save(FIRST_START, { at: NOW });
  for (const [id, entry] of entries) await documents.save(id, entry);
  expect(await restored(documents)).toEqual({ ledger, entries, isFirstStart: false });
  expect(entries.size).toBe(7);
});

it('does not load a source from another one or from an unreadable document', async () => {
  const dir = temporaryFolder();
  const documents = await documentsIn(dir);
  const [daily] = SOURCES;
  if (!daily) throw new TypeError('no source');
  await documents.save('slashings-mainnet', { ...emptyEntry(daily), value: 'of another kind' });
  await documents.save('machines', emptyEntry(daily));
  await documents.save('somebody-else', emptyEntry(daily));
  expect((await restored(documents)).entries.size).toBe(0);
  expect(readdirSync(dir).filter((name) => name.includes('unreadable'))).toHaveLength(2);
});

it('allows a request after revoked access only when the last refusal is ten minutes old', async () => {
  const documents = await documentsIn();
  await documents.save(LEDGER, { ...NEW, key: { ...NEW.key, standing: 'revoked', since: NOW } });
  const opens = async (now: number): Promise<number> =>
    opensAt((await restored(documents, now)).ledger, 'route', BUDGET_OPTIONS, now);
  expect(await opens(NOW + 10 * MINUTE - 1)).toBe(Number.POSITIVE_INFINITY);
  expect(await opens(NOW + 10 * MINUTE)).toBe(0);
});

it('refuses in one line a directory that cannot be made or that another process holds', async () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  const dir = join(file, 'state');
  await expect(openDocuments({ dir, redis: undefined }, SILENT)).rejects.toThrow(
    new StateRefused(`the state directory ${dir} cannot be used: a part of its path is a file, ENOTDIR`),
  );
  const taken = temporaryFolder();
  await documentsIn(taken);
  const refusal = `the state directory ${taken} is in use by process ${process.pid} on ${hostname()} since 20`;
  await expect(openDocuments({ dir: taken, redis: undefined }, SILENT)).rejects.toThrow(refusal);
  // A network disk without locks refuses every lock, and nobody holds one.
  rmSync(join(taken, 'lock.holder'));
  await expect(openDocuments({ dir: taken, redis: undefined }, SILENT)).rejects.toThrow(
    `the state directory ${taken} is in use by another process: stop it first. If there is none, the directory is on a network disk without locks`,
  );
});

it('refuses to start if a document cannot be read, because the exporter would overwrite it', async () => {
  for (const name of [LEDGER, FIRST_START, 'slashings-hoodi']) {
    const dir = temporaryFolder();
    const documents = await documentsIn(dir);
    // Not even root can read a directory as a file.
    const file = join(dir, `${name}.json`);
    mkdirSync(file);
    const refusal =
      `the state of ${name} cannot be read: ${file}: it is a directory, EISDIR. ` +
      `Correct this, or begin without the file: mv ${file} ${file}.old`;
    await expect(restored(documents)).rejects.toThrow(new StateRefused(refusal));
  }
});
