import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { History } from '../sources/history.ts';
import { hasCode } from '../toolkit/lib/error-code.ts';
import type { Seconds } from '../toolkit/lib/time.ts';
import { syncDirectory } from '../toolkit/state/whole-file.ts';
import { Plan, type Slice } from './plan.ts';

export interface KeptPage {
  /** The cursor of the next page. Null: this is the last page. */
  readonly next: string | null;
  /** The requests that the slice is still expected to take. */
  readonly left: number;
  /** Why there is no next page, unless the service ended the sequence. */
  readonly ending?: string;
  /** Records that could not be read or are outside the time range. */
  readonly bad: number;
  readonly records: readonly unknown[];
}

/** A span of time whose samples go into one file; Unix seconds, `to` is exclusive. */
export interface OutputSpan {
  readonly from: Seconds;
  readonly to: Seconds;
}

/**
 * One sync of the log (WAL) makes a page durable. SQLite sorts on the disk if the cache is too small. The lock keeps
 * other processes out.
 */
const SETTINGS = `
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA cache_size = -8192;
`;

/**
 * Records are stored in the order of their arrival and sorted when they are written out: a key by group and time would
 * spread each page over the whole database, and write three times as many bytes.
 */
const TABLES = `
  CREATE TABLE IF NOT EXISTS plan (json TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS slice (
    id INTEGER PRIMARY KEY,
    next TEXT,
    "left" REAL NOT NULL,
    ending TEXT,
    bad INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS record (
    id INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    "group" TEXT NOT NULL,
    at REAL NOT NULL,
    json TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS record_by_time ON record (at);
`;

/** The folder next to the output with the data of a run until the output is complete. */
export function folderOf(output: string): string {
  return `${output}.backfill`;
}

/** The data of a run in one SQLite database: the plan, the position in each slice, and the records. */
export class Store implements Disposable {
  readonly #folder: string;
  readonly #database: DatabaseSync;

  private constructor(folder: string, database: DatabaseSync) {
    this.#folder = folder;
    this.#database = database;
  }

  /** Opens the folder, or makes it. @throws an Error if it cannot be written or is in use by another process. */
  static async open(folder: string): Promise<Store> {
    if (!existsSync(folder)) {
      await mkdir(folder);
      await syncDirectory(dirname(folder));
    }
    // Loaded only here, because up to Node 24.14 it prints a warning that it is experimental.
    const { DatabaseSync } = await import('node:sqlite');
    // For sorting: in a container the usual folders may be read-only or in memory.
    process.env['SQLITE_TMPDIR'] ??= folder;
    const database = new DatabaseSync(join(folder, 'run.db'));
    try {
      database.exec(SETTINGS);
      database.exec(TABLES);
    } catch (error) {
      database.close();
      throw error;
    }
    return new Store(folder, database);
  }

  /** @throws an Error if another version of the program wrote it */
  plan(): Plan | undefined {
    const row = this.#database.prepare('SELECT json FROM plan').get();
    return row && Plan.parse(JSON.parse(String(row['json'])));
  }

  save(plan: Plan): void {
    this.#database.prepare('INSERT INTO plan VALUES (?)').run(JSON.stringify(plan));
  }

  /** The requests that each started slice is still expected to take, by its id. 0: the slice is complete. */
  left(): Map<number, number> {
    const rows = this.#database.prepare('SELECT id, "left" FROM slice').all();
    return new Map(rows.map(({ id, left }) => [Number(id), Math.ceil(Number(left))]));
  }

  /** The cursor to continue with. Undefined if the slice has not been started, or is complete. */
  cursorOf({ id }: Slice): string | undefined {
    const next = this.#database.prepare('SELECT next FROM slice WHERE id = ?').get(id)?.['next'];
    return next == null ? undefined : String(next);
  }

  /** Keeps the records and the cursor of a page together, so that they survive a loss of power. */
  keep({ id, source }: Slice, history: History, { next, left, ending, bad, records }: KeptPage): void {
    const record = this.#database.prepare('INSERT INTO record (source, "group", at, json) VALUES (?, ?, ?, ?)');
    const slice = this.#database.prepare(
      `INSERT INTO slice (id, next, "left", ending, bad) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
       SET next = excluded.next, "left" = excluded."left", ending = excluded.ending, bad = bad + excluded.bad`,
    );
    this.#database.exec('BEGIN');
    try {
      for (const one of records) record.run(source, history.group(one), history.at(one), JSON.stringify(one));
      slice.run(id, next, left, ending ?? null, bad);
      this.#database.exec('COMMIT');
    } catch (error) {
      // After some failures SQLite has already rolled back.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  flaws(): { bad: number; endings: string[] } {
    const row = this.#database.prepare('SELECT total(bad) AS bad FROM slice').get();
    const rows = this.#database.prepare('SELECT DISTINCT ending FROM slice WHERE ending IS NOT NULL').all();
    return { bad: Number(row?.['bad']), endings: rows.map(({ ending }) => String(ending)) };
  }

  /** The records of each group of a source in the span, in ascending time, then as they came. */
  *groups(source: string, { from, to }: OutputSpan): Generator<unknown[]> {
    const groups = this.#database.prepare(
      `SELECT group_concat(json ORDER BY at, id) AS records FROM record
       WHERE source = ? AND at >= ? AND at < ? GROUP BY "group" ORDER BY "group"`,
    );
    for (const { records } of groups.iterate(source, from, to)) yield JSON.parse(`[${records}]`);
  }

  /** An empty folder for one output span. */
  async scratch(): Promise<string> {
    const path = join(this.#folder, 'scratch');
    await rm(path, { recursive: true, force: true });
    await mkdir(path);
    return path;
  }

  async remove(): Promise<void> {
    this[Symbol.dispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }

  [Symbol.dispose](): void {
    if (this.#database.isOpen) this.#database.close();
  }
}

/** Such as a full disk, or a folder in use by another process. */
export function isStoreFailure(error: unknown): boolean {
  return hasCode(error, 'ERR_SQLITE_ERROR');
}
