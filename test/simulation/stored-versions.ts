import type { z } from 'zod';
import { wrap } from '../../src/state/envelope.ts';
import type { StateStore } from '../../src/state/store.ts';

interface Version {
  readonly value: unknown;
  readonly hasFailed: boolean;
}

type Closable = StateStore & { close(): Promise<void> };

/** What the processes of one host have written, to compare with what a start finds. */
export class StoredVersions {
  /** By document: the newest version whose write has resolved, if one has, and all whose write has begun since. */
  readonly #versions = new Map<string, Version[]>();
  readonly #resolved = new Set<string>();
  readonly #writtenAt = new Map<string, number>();
  readonly #now: () => number;
  #hasForgotten = false;
  /** Writes that failed in this process. */
  failed = 0;
  /** Called when a document is written whose last write failed. */
  onMadeGood: () => void = () => undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The newest version that may be stored. */
  latest(name: string): unknown {
    return this.#versions.get(name)?.at(-1)?.value;
  }

  /** When a write of the document last resolved. */
  writtenAt(name: string): number {
    return this.#writtenAt.get(name) ?? Number.NEGATIVE_INFINITY;
  }

  /** A store whose writes are noted. */
  through(store: Closable): Closable {
    return {
      load: <S extends z.ZodType>(name: string, schema: S) => store.load(name, schema),
      save: (name, value) => this.#save(store, name, value),
      close: () => store.close(),
    };
  }

  /** Something else than a process has changed the files. */
  forget(): void {
    this.#hasForgotten = true;
    this.#versions.clear();
    this.#resolved.clear();
  }

  /** What is wrong with the files that a start finds. */
  problemIn(files: ReadonlyMap<string, Buffer>): string | undefined {
    for (const [name, versions] of this.#versions) {
      const text = files.get(`${name}.json`)?.toString();
      if (text === undefined) {
        if (this.#resolved.has(name)) return `${name} is gone`;
        continue;
      }
      // Until a write has resolved, the file is still what others put there.
      const isTheirs = this.#hasForgotten && !this.#resolved.has(name);
      if (!isTheirs && !versions.some(({ value }) => wrap(value) === text)) {
        return `${name} is none of the last ${versions.length} versions: ${text.slice(0, 100)}`;
      }
    }
    return undefined;
  }

  async #save(store: StateStore, name: string, value: unknown): Promise<void> {
    const version = { value, hasFailed: false };
    const versions = this.#versions.get(name) ?? [];
    const isMakingGood = versions.at(-1)?.hasFailed;
    this.#versions.set(name, [...versions, version]);
    try {
      await store.save(name, value);
    } catch (error) {
      // It may have come so far that it survives.
      this.#replace(name, version, [{ value, hasFailed: true }]);
      // Those of the record of the process are logged and not counted.
      if (name !== 'process') this.failed += 1;
      throw error;
    }
    this.#writtenAt.set(name, this.#now());
    const kept = this.#versions.get(name) ?? [];
    const at = kept.indexOf(version);
    // The files were changed from outside in the meantime.
    if (at < 0) return;
    this.#versions.set(name, kept.slice(at));
    this.#resolved.add(name);
    if (isMakingGood) this.onMadeGood();
  }

  #replace(name: string, version: Version, by: Version[]): void {
    const versions = this.#versions.get(name) ?? [];
    const at = versions.indexOf(version);
    if (at >= 0) this.#versions.set(name, versions.toSpliced(at, 1, ...by));
  }
}
