import { dirname } from 'node:path';
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import { hasCode } from '../lib/error-code.ts';
import type { History } from '../sources/history.ts';
import type { OutputSpan } from './output-spans.ts';
import { Plan, type Slice } from './plan.ts';

/** A page as it is kept. */
export interface KeptPage {
  /** The cursor of the next page; null: this is the last one. */
  readonly next: string | null;
  /** Why there is no next page, where the service did not say so. */
  readonly ending?: string;
  /** Records that could not be read or are of another time. */
  readonly bad: number;
  readonly records: readonly unknown[];
}

/** Counts up with each change of the tables. */
const VERSION = 1;

/**
 * A page costs one sync of the log (WAL). The cache is also the memory of a sort, whose rest goes to the disk. The lock
 * keeps other processes out.
 */
const SETTINGS = `
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA cache_size = -8192;
`;

/**
 * Records lie in the order in which they come, and are sorted when they are written out. With a key by group and time each
 * page would change thirty other places, and write three times as many bytes.
 */
const TABLES = `
  CREATE TABLE IF NOT EXISTS plan (id INTEGER PRIMARY KEY CHECK (id = 1), json TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS slice (id INTEGER PRIMARY KEY, next TEXT, ending TEXT, bad INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS record (
    id INTEGER PRIMARY KEY,
    slice INTEGER NOT NULL,
    source TEXT NOT NULL,
    "group" TEXT NOT NULL,
    at REAL NOT NULL,
    json TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS record_by_slice ON record (slice);
  CREATE INDEX IF NOT EXISTS record_by_time ON record (at);
  PRAGMA user_version = ${VERSION};
`;

/** https://sqlite.org/rescode.html#busy */
const SQLITE_BUSY = 5;

type Row = Record<string, SQLOutputValue>;

/** What a run keeps, in one SQLite database: the plan, where each slice is, and the records. */
export class Store {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  private constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Opens or makes it. @throws where it is of another version, or in use by another process. */
  static async open(file: string): Promise<Store> {
    // Loaded only here: up to Node 24.14 it prints a warning that it is experimental.
    const { DatabaseSync } = await import('node:sqlite');
    // For sorting: the usual folders may be read-only in a container, or in memory.
    process.env['SQLITE_TMPDIR'] ??= dirname(file);
    const store = new Store(new DatabaseSync(file));
    try {
      store.#database.exec(SETTINGS);
      const version = store.#one('PRAGMA user_version')?.['user_version'];
      if (version !== 0 && version !== VERSION) throw new Error(`another version of this program made ${file}`);
      if (version === 0) store.#transaction(() => store.#database.exec(TABLES));
    } catch (error) {
      store.close();
      throw error;
    }
    return store;
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  plan(): Plan | undefined {
    const row = this.#one('SELECT json FROM plan');
    return row && Plan.parse(JSON.parse(String(row['json'])));
  }

  /** Drops what belongs to slices that are no longer in the plan. */
  save(plan: Plan): void {
    const wanted = new Set(plan.slices.map(({ id }) => id));
    this.#transaction(() => {
      this.#run('INSERT OR REPLACE INTO plan (id, json) VALUES (1, ?)', JSON.stringify(plan));
      for (const { id } of this.#all('SELECT id FROM slice')) if (!wanted.has(Number(id))) this.#drop(Number(id));
    });
  }

  /** The ids of the slices that are complete. */
  completeSlices(): Set<number> {
    return new Set(this.#all('SELECT id FROM slice WHERE next IS NULL').map(({ id }) => Number(id)));
  }

  /** The cursor to go on with; undefined: the slice is not begun, or complete. */
  cursorOf({ id }: Slice): string | undefined {
    const next = this.#one('SELECT next FROM slice WHERE id = ?', id)?.['next'];
    return next == null ? undefined : String(next);
  }

  /** Keeps the records and the cursor of a page together, so that they survive a loss of power. */
  keep({ id, source }: Slice, history: History, { next, ending, bad, records }: KeptPage): void {
    this.#transaction(() => {
      for (const record of records) {
        const values = [id, source, history.group(record), history.at(record), JSON.stringify(record)];
        this.#run('INSERT INTO record (slice, source, "group", at, json) VALUES (?, ?, ?, ?, ?)', ...values);
      }
      this.#run(
        `INSERT INTO slice (id, next, ending, bad) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE
         SET next = excluded.next, ending = excluded.ending, bad = bad + excluded.bad`,
        ...[id, next, ending ?? null, bad],
      );
    });
  }

  /** Drops what was kept of a slice. */
  drop({ id }: Slice): void {
    this.#transaction(() => this.#drop(id));
  }

  #drop(id: number): void {
    this.#run('DELETE FROM record WHERE slice = ?', id);
    this.#run('DELETE FROM slice WHERE id = ?', id);
  }

  /** What is wrong with the pages: records that are left out, and how sequences ended that the service did not end. */
  flaws(): { bad: number; endings: string[] } {
    const bad = Number(this.#one('SELECT total(bad) AS bad FROM slice')?.['bad']);
    const rows = this.#all('SELECT DISTINCT ending FROM slice WHERE ending IS NOT NULL ORDER BY ending');
    return { bad, endings: rows.map(({ ending }) => String(ending)) };
  }

  *recordsOf({ id }: Slice): Generator<unknown> {
    for (const { json } of this.#each('SELECT json FROM record WHERE slice = ?', id)) yield JSON.parse(String(json));
  }

  /** How many records of a source there are in the span, duplicates included. */
  count(source: string, { from, to }: OutputSpan): number {
    const sql = 'SELECT count(*) AS count FROM record WHERE source = ? AND at >= ? AND at < ?';
    return Number(this.#one(sql, source, from, to)?.['count']);
  }

  /** The records of a source in the span, group by group, each in ascending time, then as they came. */
  *sorted(source: string, { from, to }: OutputSpan): Generator<{ group: string; record: unknown }> {
    const sql = 'SELECT "group", json FROM record WHERE source = ? AND at >= ? AND at < ? ORDER BY "group", at, id';
    for (const { group, json } of this.#each(sql, source, from, to)) {
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

  #run(sql: string, ...values: SQLOutputValue[]): void {
    this.#prepare(sql).run(...values);
  }

  #one(sql: string, ...values: SQLOutputValue[]): Row | undefined {
    return this.#prepare(sql).get(...values);
  }

  #all(sql: string, ...values: SQLOutputValue[]): Row[] {
    return this.#prepare(sql).all(...values);
  }

  #each(sql: string, ...values: SQLOutputValue[]): Iterable<Row> {
    return this.#database.prepare(sql).iterate(...values);
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }
}

/** Whether the disk is full or failed, not this program. */
export function isStoreFailure(error: unknown): boolean {
  return hasCode(error, 'ERR_SQLITE_ERROR');
}

/** Whether another process has the database open. */
export function isInUse(error: unknown): boolean {
  return isStoreFailure(error) && (error as { errcode?: unknown }).errcode === SQLITE_BUSY;
}
