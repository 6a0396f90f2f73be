/** Wall-clock time: milliseconds since 1970. */
export type UnixMs = number;

/** Wall-clock time: seconds since 1970. */
export type UnixSeconds = number;

/** Time that never steps: milliseconds since an arbitrary origin. */
export type MonotonicMs = number;

/** A length of time. */
export type Milliseconds = number;

/** A length of time. */
export type Seconds = number;
