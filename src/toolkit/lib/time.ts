/** Wall-clock time: milliseconds since 1970. */
export type UnixMs = number;

/** Wall-clock time: seconds since 1970. */
export type UnixSeconds = number;

/** The time since `at`. Infinity without `at`, or if `at` is in the future because the clock was set back. */
export function elapsed(at: number | undefined, now: number): number {
  return at === undefined || at > now ? Number.POSITIVE_INFINITY : now - at;
}

/** Time that never steps: milliseconds since an arbitrary origin. */
export type MonotonicMs = number;

export type Milliseconds = number;

export type Seconds = number;
