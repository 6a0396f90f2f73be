import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { LoginQueue, type Origin } from './login-queue.ts';

export interface Comparison {
  readonly password: string;
  readonly hash: string;
}

interface Job extends Comparison {
  readonly resolve: (isEqual: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** Both the source (.ts) and the build (.js) run. */
const WORKER = join(import.meta.dirname, `bcrypt-worker${extname(import.meta.filename)}`);

/** Too many passwords wait to be compared. */
export class TooBusy extends Error {
  override readonly name = 'TooBusy';
}

/** Compares passwords with bcrypt hashes, one at a time and in a thread of its own, so that no request waits for it. */
export class Bcrypt {
  readonly #queue = new LoginQueue<Job>();
  #current: Job | undefined;
  #worker: Worker | undefined;

  /** @throws TooBusy */
  matches(password: string, hash: string, origin: Origin): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#queue.push(origin, { password, hash, resolve, reject })?.reject(new TooBusy('too many passwords wait'));
      if (!this.#current) this.#next();
    });
  }

  /** Stops at once, even during a comparison. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #next(): void {
    this.#current = this.#queue.shift();
    if (!this.#current) return;
    const { password, hash } = this.#current;
    this.#worker ??= this.#start();
    this.#worker.postMessage({ password, hash } satisfies Comparison);
  }

  #start(): Worker {
    const worker = new Worker(WORKER);
    worker.unref();
    worker.on('message', (isEqual: boolean) => {
      this.#current?.resolve(isEqual);
      this.#next();
    });
    worker.on('error', (error) => this.#fail(error));
    worker.on('exit', () => this.#fail(new Error('the thread that compares passwords has ended')));
    return worker;
  }

  /** Rejects all comparisons. The next one starts a new thread. */
  #fail(error: unknown): void {
    this.#worker = undefined;
    this.#current?.reject(error);
    this.#current = undefined;
    for (let job = this.#queue.shift(); job; job = this.#queue.shift()) job.reject(error);
  }
}
