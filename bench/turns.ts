/**
 * The CPU time of the longest turn of the event loop, give or take a millisecond: for how long it is held when no other
 * process takes the CPU away. `monitorEventLoopDelay` counts that as well.
 */
export class Turns {
  #longest = 0;
  #last = threadMs();
  readonly #timer = setInterval(() => {
    const now = threadMs();
    this.#longest = Math.max(this.#longest, now - this.#last);
    this.#last = now;
  }, 1).unref();

  /** Since the last time that it was asked for. */
  take(): number {
    const longest = this.#longest;
    this.#longest = 0;
    return longest;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
