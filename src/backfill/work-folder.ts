import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from '../lib/error-code.ts';
import { DRAFT, syncDirectory, writeWhole } from '../lib/whole-file.ts';
import { PageLog } from './page-log.ts';
import { Plan, type Slice } from './plan.ts';

/** It holds what the output will, which others may read. */
const READABLE = 0o666;

/** What a run keeps beside its output until that is complete. */
export class WorkFolder {
  readonly path: string;

  constructor(output: string) {
    this.path = `${output}.backfill`;
  }

  /** Undefined: nothing was begun. @throws Error where it cannot be read or is of another version. */
  async load(): Promise<Plan | undefined> {
    let text: string;
    try {
      text = await readFile(this.#planFile, 'utf8');
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined;
      throw error;
    }
    return Plan.parse(JSON.parse(text));
  }

  async save(plan: Plan): Promise<void> {
    const made = await mkdir(this.path, { recursive: true });
    await writeWhole(this.#planFile, JSON.stringify(plan), READABLE);
    if (made !== undefined) await syncDirectory(dirname(this.path));
  }

  get #planFile(): string {
    return join(this.path, 'plan.json');
  }

  pagesOf({ id }: Slice): string {
    return join(this.path, `slice-${id}.jsonl`);
  }

  /** Bytes of what was read of a slice. */
  async sizeOf(slice: Slice): Promise<number> {
    return (await stat(this.pagesOf(slice))).size;
  }

  /** The slices that are complete. */
  async done({ slices }: Plan): Promise<Set<number>> {
    const done = new Set<number>();
    for (const slice of slices) {
      const log = await PageLog.open(this.pagesOf(slice));
      if (log.isDone) done.add(slice.id);
      await log.close();
    }
    return done;
  }

  /** An empty folder for what is put together. */
  async scratch(): Promise<string> {
    const path = join(this.path, 'scratch');
    await rm(path, { recursive: true, force: true });
    await mkdir(path, { recursive: true });
    return path;
  }

  /** Removes the pages of slices that are no longer in the plan, and what a write left that was cut off. */
  async tidy({ slices }: Plan): Promise<void> {
    const known = new Set(slices.map(({ id }) => `slice-${id}.jsonl`));
    for (const name of await readdir(this.path)) {
      const isUnknown = /^slice-\d+\.jsonl$/.test(name) && !known.has(name);
      if (isUnknown || name.includes(DRAFT)) await rm(join(this.path, name), { force: true });
    }
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}
