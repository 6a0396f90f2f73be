import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncDirectory } from '../lib/whole-file.ts';
import type { Plan } from './plan.ts';
import { Store } from './store.ts';

/** The folder next to the output with the data of a run until the output is complete. */
export class WorkFolder implements Disposable {
  readonly path: string;
  #store: Store | undefined;

  constructor(output: string) {
    this.path = `${output}.backfill`;
  }

  /** What an earlier run stored; undefined: nothing. @throws Error where it cannot be read or has another version. */
  async load(): Promise<Plan | undefined> {
    if (existsSync(join(this.path, 'plan.json'))) {
      throw new Error('it was written by another version of the program; only that version can resume it');
    }
    if (existsSync(this.#file)) await this.#open();
    return this.#store?.plan();
  }

  async save(plan: Plan): Promise<void> {
    if (!existsSync(this.path)) {
      await mkdir(this.path);
      await syncDirectory(dirname(this.path));
    }
    await this.#open();
    this.store.save(plan);
  }

  /** Once there is a plan. */
  get store(): Store {
    if (!this.#store) throw new TypeError('nothing is kept yet');
    return this.#store;
  }

  async #open(): Promise<void> {
    this.#store ??= await Store.open(this.#file);
  }

  get #file(): string {
    return join(this.path, 'run.db');
  }

  /** An empty folder for one output span. */
  async scratch(): Promise<string> {
    const path = join(this.path, 'scratch');
    await rm(path, { recursive: true, force: true });
    await mkdir(path);
    return path;
  }

  async remove(): Promise<void> {
    this[Symbol.dispose]();
    await rm(this.path, { recursive: true, force: true });
  }

  [Symbol.dispose](): void {
    this.#store?.close();
    this.#store = undefined;
  }
}
