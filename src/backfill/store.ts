import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { hasCode } from '../lib/error-code.ts';
import type { History } from '../sources/history.ts';
import type { OutputSpan } from './output-spans.ts';
import { Plan, type Slice } from './plan.ts';

/** A page as it is stored. */
export interface KeptPage {
  /** The cursor of the next page; null: this is the last one. */
  readonly next: string | null;
  /** Why there is no next page, if the service did not end the sequence itself. */
  readonly ending?: string;
  /** Records that could not be read or are of another time. */
  readonly bad: number;
  readonly records: readonly unknown[];
}

/**
 * One sync of the log (WAL) makes a page durable. What does not fit into the cache is sorted on the disk. The lock keeps
 * other processes out.
 */
const SETTINGS = `
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA cache_size = -8192;
`;

/** Counts up with each change of the tables. */
const VERSION = 1;

/**
 * Records lie in the order in which they come, and are sorted when they are written out: a key by group and time would
 * spread each page over the whole database, and write three times as many bytes.
 */
const TABLES = `
  BEGIN;
  CREATE TABLE plan (json TEXT NOT NULL) STRICT;
  CREATE TABLE slice (id INTEGER PRIMARY KEY, next TEXT, ending TEXT, bad INTEGER NOT NULL) STRICT;
  CREATE TABLE record (
    id INTEGER PRIMARY KEY,
    slice INTEGER NOT NULL,
    source TEXT NOT NULL,
    "group" TEXT NOT NULL,
    at REAL NOT NULL,
    json TEXT NOT NULL
  ) STRICT;
  CREATE INDEX record_by_slice ON record (slice);
  CREATE INDEX record_by_time ON record (at);
  PRAGMA user_version = ${VERSION};
  COMMIT;
`;

/** What a run keeps, in one SQLite database: the plan, where each slice is, and the records. */
export class Store {
  readonly #database: DatabaseSync;

  private constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Opens or creates it. @throws if it has another version or is in use by another process. */
  static async open(file: string): Promise<Store> {
    // Loaded only here, because up to Node 24.14 it prints a warning that it is experimental.
    const { DatabaseSync } = await import('node:sqlite');
    // For sorting: the usual folders may be read-only in a container, or in memory.
    process.env['SQLITE_TMPDIR'] ??= dirname(file);
    const database = new DatabaseSync(file);
    try {
      database.exec(SETTINGS);
      const version = database.prepare('PRAGMA user_version').get()?.['user_version'];
      if (version === 0) database.exec(TABLES);
      else if (version !== VERSION) throw new Error(`${file} was written by another version of this program`);
    } catch (error) {
      database.close();
      throw error;
    }
    return new Store(database);
  }

  close(): void {
    this.#database.close();
  }

  plan(): Plan | undefined {
    const row = this.#database.prepare('SELECT json FROM plan').get();
    return row && Plan.parse(JSON.parse(String(row['json'])));
  }

  /** Drops what belongs to slices that are no longer in the plan. */
  save(plan: Plan): void {
    const wanted = new Set(plan.slices.map(({ id }) => id));
    const kept = this.#database.prepare('SELECT id FROM slice').all();
    this.#transaction(() => {
      this.#database.exec('DELETE FROM plan');
      this.#database.prepare('INSERT INTO plan VALUES (?)').run(JSON.stringify(plan));
      for (const { id } of kept) if (!wanted.has(Number(id))) this.#drop(Number(id));
    });
  }

  /** The ids of the complete slices. */
  completeSlices(): Set<number> {
    const rows = this.#database.prepare('SELECT id FROM slice WHERE next IS NULL').all();
    return new Set(rows.map(({ id }) => Number(id)));
  }

  /** The cursor to continue with; undefined: the slice has not been started, or is complete. */
  cursorOf({ id }: Slice): string | undefined {
    const next = this.#database.prepare('SELECT next FROM slice WHERE id = ?').get(id)?.['next'];
    return next == null ? undefined : String(next);
  }

  /** Keeps the records and the cursor of a page together, so that they survive a loss of power. */
  keep({ id, source }: Slice, history: History, { next, ending, bad, records }: KeptPage): void {
    const record = this.#database.prepare(
      'INSERT INTO record (slice, source, "group", at, json) VALUES (?, ?, ?, ?, ?)',
    );
    const slice = this.#database.prepare(
      `INSERT INTO slice (id, next, ending, bad) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE
       SET next = excluded.next, ending = excluded.ending, bad = bad + excluded.bad`,
    );
    this.#transaction(() => {
      for (const one of records) record.run(id, source, history.group(one), history.at(one), JSON.stringify(one));
      slice.run(id, next, ending ?? null, bad);
    });
  }

  /** Drops what was kept of a slice. */
  drop({ id }: Slice): void {
    this.#transaction(() => this.#drop(id));
  }

  #drop(id: number): void {
    this.#database.prepare('DELETE FROM record WHERE slice = ?').run(id);
    this.#database.prepare('DELETE FROM slice WHERE id = ?').run(id);
  }

  /** Problems of the pages: dropped records, and why sequences ended early. */
  flaws(): { bad: number; endings: string[] } {
    const row = this.#database.prepare('SELECT total(bad) AS bad FROM slice').get();
    const rows = this.#database.prepare('SELECT DISTINCT ending FROM slice WHERE ending IS NOT NULL').all();
    return { bad: Number(row?.['bad']), endings: rows.map(({ ending }) => String(ending)) };
  }

  *recordsOf({ id }: Slice): Generator<unknown> {
    const rows = this.#database.prepare('SELECT json FROM record WHERE slice = ?').iterate(id);
    for (const { json } of rows) yield JSON.parse(String(json));
  }

  /** How many records of a source there are in the span, duplicates included. */
  count(source: string, { from, to }: OutputSpan): number {
    const sql = 'SELECT count(*) AS count FROM record WHERE source = ? AND at >= ? AND at < ?';
    return Number(this.#database.prepare(sql).get(source, from, to)?.['count']);
  }

  /** The records of a source in the span, group by group, each in ascending time, then as they came. */
  *sorted(source: string, { from, to }: OutputSpan): Generator<{ group: string; record: unknown }> {
    const sql = 'SELECT "group", json FROM record WHERE source = ? AND at >= ? AND at < ? ORDER BY "group", at, id';
    for (const { group, json } of this.#database.prepare(sql).iterate(source, from, to)) {
      yield { group: String(group), record: JSON.parse(String(json)) };
    }
  }

  #transaction(work: () => void): void {
    this.#database.exec('BEGIN');
    try {
      work();
      this.#database.exec('COMMIT');
    } catch (error) {
      // After some failures SQLite has done so itself.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }
}

/** https://sqlite.org/rescode.html: a wrong statement, and a database that another process has open. */
const [SQLITE_ERROR, SQLITE_BUSY] = [1, 5];

/** Whether the cause is the disk and not this program. */
export function isStoreFailure(error: unknown): boolean {
  return hasCode(error, 'ERR_SQLITE_ERROR') && resultOf(error) !== SQLITE_ERROR;
}

export function isInUse(error: unknown): boolean {
  return isStoreFailure(error) && resultOf(error) === SQLITE_BUSY;
}

function resultOf(error: unknown): unknown {
  return (error as { errcode?: unknown }).errcode;
}
