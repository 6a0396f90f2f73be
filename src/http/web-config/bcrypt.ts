import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';

export interface Comparison {
  readonly password: string;
  readonly hash: string;
}

interface Job extends Comparison {
  readonly resolve: (isEqual: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** At 60 ms each at the usual cost. Whoever is behind would not wait that long, and one connection can ask for thousands. */
const MOST_WAITING = 64;

/** The source runs as it is and as built. */
const WORKER = join(import.meta.dirname, `bcrypt-worker${extname(import.meta.filename)}`);

/** Too many passwords wait to be compared. */
export class TooBusy extends Error {
  override readonly name = 'TooBusy';
}

/** Compares passwords with bcrypt hashes in a thread of its own, so that nobody else waits; one at a time. */
export class Bcrypt {
  readonly #jobs: Job[] = [];
  #worker: Worker | undefined;

  /** @throws TooBusy */
  matches(password: string, hash: string): Promise<boolean> {
    if (this.#jobs.length >= MOST_WAITING) return Promise.reject(new TooBusy('too many passwords wait'));
    return new Promise((resolve, reject) => {
      this.#jobs.push({ password, hash, resolve, reject });
      if (this.#jobs.length === 1) this.#next();
    });
  }

  /** Stops at once, in the middle of a comparison too. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #next(): void {
    const [job] = this.#jobs;
    if (!job) return;
    this.#worker ??= this.#start();
    this.#worker.postMessage({ password: job.password, hash: job.hash } satisfies Comparison);
  }

  #start(): Worker {
    const worker = new Worker(WORKER);
    worker.unref();
    worker.on('message', (isEqual: boolean) => {
      this.#jobs.shift()?.resolve(isEqual);
      this.#next();
    });
    worker.on('error', (error) => this.#fail(error));
    worker.on('exit', () => this.#fail(new Error('the thread that compares passwords has ended')));
    return worker;
  }

  /** The next comparison starts another. */
  #fail(error: unknown): void {
    this.#worker = undefined;
    for (const job of this.#jobs.splice(0)) job.reject(error);
  }
}
