/** A span of time for a story: `1.5 s`, `3 min`, `2 h`. */
export function secondsOf(ms: number): string {
  if (ms < 60_000) return `${ms / 1_000} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 6_000) / 10} min`;
  return `${Math.round(ms / 360_000) / 10} h`;
}
