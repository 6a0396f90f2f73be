import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from '../lib/error-code.ts';
import { DRAFT, syncDirectory, writeWhole } from '../lib/whole-file.ts';
import { PageLog, readPages } from './page-log.ts';
import { Plan, type Slice } from './plan.ts';

/** As for the output, which holds the same: others may read it. */
const FILE_MODE = 0o666;

/** The folder beside the output with what a run keeps until the output is complete. */
export class WorkFolder {
  readonly path: string;

  constructor(output: string) {
    this.path = `${output}.backfill`;
  }

  /** Undefined: there is no plan. @throws Error where it cannot be read or has another version. */
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
    await writeWhole(this.#planFile, JSON.stringify(plan), FILE_MODE);
    if (made !== undefined) await syncDirectory(dirname(this.path));
  }

  get #planFile(): string {
    return join(this.path, 'plan.json');
  }

  pagesOf({ id }: Slice): string {
    return join(this.path, `slice-${id}.jsonl`);
  }

  /** Bytes of the pages of a slice. */
  async sizeOf(slice: Slice): Promise<number> {
    return (await stat(this.pagesOf(slice))).size;
  }

  /** The ids of the slices that are complete. */
  async completeSlices({ slices }: Plan): Promise<Set<number>> {
    const complete = new Set<number>();
    for (const slice of slices) {
      const log = await PageLog.open(this.pagesOf(slice));
      if (log.isDone) complete.add(slice.id);
      await log.close();
    }
    return complete;
  }

  /** What is wrong with the pages: records that are left out, and how sequences ended that the service did not end. */
  async flaws({ slices }: Plan): Promise<{ bad: number; endings: string[] }> {
    let bad = 0;
    const endings = new Set<string>();
    for (const slice of slices) {
      for await (const page of readPages(this.pagesOf(slice))) {
        bad += page.bad;
        if (page.ending !== undefined) endings.add(page.ending);
      }
    }
    return { bad, endings: [...endings] };
  }

  /** An empty folder for one output span. */
  async scratch(): Promise<string> {
    const path = join(this.path, 'scratch');
    await rm(path, { recursive: true, force: true });
    await mkdir(path, { recursive: true });
    return path;
  }

  /** Removes the pages of slices that are no longer in the plan, and what interrupted writes left. */
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
