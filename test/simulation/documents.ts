import type { StateStore } from '../../src/toolkit/state/store.ts';
import type { ExporterProcess } from './exporter-process.ts';
import type { Random } from './random.ts';

/** How long a write takes on a good disk, ms. */
const USUAL_MS = [1, 30] as const;

/**
 * The documents of the machine that runs the program. They survive its processes. A process that is killed during a write
 * leaves the old document or the new one, never a part of it.
 */
export class Documents {
  readonly #texts = new Map<string, string>();
  readonly #random: Random;
  /** How long a write takes, ms. */
  writeMs: readonly [low: number, high: number] = USUAL_MS;
  /** Every write fails. */
  isFull = false;
  /** All writes so far, also those that failed. */
  writes = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  calm(): void {
    this.writeMs = USUAL_MS;
    this.isFull = false;
  }

  get isTroubled(): boolean {
    return this.isFull || this.writeMs !== USUAL_MS;
  }

  /** The store of one process. */
  of(process: ExporterProcess): StateStore & { close(): Promise<void> } {
    /** The latest write of each document: the next one waits for it. */
    const writes = new Map<string, Promise<void>>();
    return {
      load: async (name, schema) => {
        const text = this.#texts.get(name);
        // Whatever a process has written, the next one can read.
        return text === undefined ? undefined : schema.parse(JSON.parse(text));
      },
      save: async (name, value) => {
        const before = writes.get(name)?.catch(() => undefined);
        const write = Promise.resolve(before).then(() => this.#write(process, name, value));
        writes.set(name, write);
        await write;
      },
      close: async () => void (await Promise.allSettled(writes.values())),
    };
  }

  async #write(process: ExporterProcess, name: string, value: unknown): Promise<void> {
    this.writes += 1;
    const text = JSON.stringify(value);
    const ms = this.#random.scale(...this.writeMs);
    const before = Math.round(ms * this.#random.unit());
    await process.clock.sleep(before);
    await process.call('write', () => {
      if (!this.isFull) {
        this.#texts.set(name, text);
        return;
      }
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    });
    await process.clock.sleep(ms - before);
    await process.call('written', () => undefined);
  }
}
