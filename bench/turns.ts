/**
 * The CPU time of the longest turn of the event loop, give or take a millisecond. Unlike `monitorEventLoopDelay`, it
 * excludes time in which other processes have the CPU.
 */
export class Turns {
  #longest = 0;
  #last = threadMs();
  readonly #timer = setInterval(() => {
    const now = threadMs();
    this.#longest = Math.max(this.#longest, now - this.#last);
    this.#last = now;
  }, 1).unref();

  /** Returns the longest turn since the previous call. */
  take(): number {
    const longest = this.#longest;
    this.#longest = 0;
    return longest;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
