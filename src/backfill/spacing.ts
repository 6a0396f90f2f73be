/** Clients push once a minute (api-facts 1.1). */
const USUAL_SECONDS = 60;
/** So many gaps between records are enough to judge a series by. */
const ENOUGH_GAPS = 8;
/** A record late by half its interval still follows the one before it. */
const SLACK = 1.5;

/**
 * How far apart the records of each series are. The service thins long ranges by a rule that it does not publish, for all
 * machines alike; a minute that a machine missed is no thinning, so the closer quarter of the records decides, and one
 * series that is not thinned speaks for all.
 */
export class Spacing {
  readonly #slow: ReadonlyMap<string, number>;
  readonly #times = new Map<string, Set<number>>();

  /** @param slow Series whose records are known to be further apart than a minute, with the seconds between them. */
  constructor(slow: ReadonlyMap<string, number> = new Map()) {
    this.#slow = slow;
  }

  add(series: string, at: number): void {
    const times = this.#times.get(series);
    if (times) times.add(at);
    else this.#times.set(series, new Set([at]));
  }

  /** Undefined: too little to tell. `isAll`: nothing more will come, so that little has to do. */
  verdict(isAll = false): 'full' | 'thinned' | undefined {
    const all = [...this.#typical()];
    const sure = all.filter(({ isSure }) => isSure);
    const deciding = sure.length === 0 && isAll ? all : sure;
    if (deciding.length === 0) return undefined;
    return deciding.some(({ isSparse }) => !isSparse) ? 'full' : 'thinned';
  }

  /** The series that look thinned, with the seconds between their records. */
  sparse(): [series: string, seconds: number][] {
    return [...this.#typical()]
      .filter(({ isSure, isSparse }) => isSure && isSparse)
      .map(({ series, seconds }) => [series, seconds]);
  }

  /** Seconds between records, of the series with the closest ones; undefined: no series has two. */
  closest(): number | undefined {
    const seconds = [...this.#typical()].map((one) => one.seconds);
    return seconds.length === 0 ? undefined : Math.min(...seconds);
  }

  *#typical(): Generator<{ series: string; seconds: number; isSure: boolean; isSparse: boolean }> {
    for (const [series, times] of this.#times) {
      const gaps = gapsOf(times);
      const seconds = gaps[Math.floor((gaps.length - 1) / 4)];
      if (seconds === undefined) continue;
      const usual = this.#slow.get(series) ?? USUAL_SECONDS;
      yield { series, seconds, isSure: gaps.length >= ENOUGH_GAPS, isSparse: seconds > SLACK * usual };
    }
  }
}

/** Ascending. */
function gapsOf(times: ReadonlySet<number>): number[] {
  const ordered = [...times].sort((a, b) => a - b);
  return ordered
    .slice(1)
    .map((time, i) => time - (ordered[i] ?? time))
    .sort((a, b) => a - b);
}
