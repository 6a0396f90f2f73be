/** Clients push once a minute (api-facts 1.1). */
const USUAL_SECONDS = 60;
/** This many gaps between records are enough to judge a series. */
const ENOUGH_GAPS = 8;
/** A record that is late by up to half its interval does not make a series sparse. */
const TOLERANCE = 1.5;

export type Verdict = 'full' | 'thinned';

/** Whether records are further apart than those of clients that push every `usual` seconds. */
export function isSparse(seconds: number, usual = USUAL_SECONDS): boolean {
  return seconds > TOLERANCE * usual;
}

/**
 * How far apart the records of each series are. The service thins long ranges of all machines alike, by a rule that it
 * does not publish. A minute that a machine missed is not thinning. Therefore the lower quartile of the gaps decides,
 * and one complete series is sufficient.
 */
export class Spacing {
  readonly #slow: ReadonlyMap<string, number>;
  readonly #times = new Map<string, Set<number>>();

  /** @param slow Series with records further apart than a minute, and the seconds between them. */
  constructor(slow: ReadonlyMap<string, number> = new Map()) {
    this.#slow = slow;
  }

  add(series: string, at: number): void {
    const times = this.#times.get(series);
    if (times) times.add(at);
    else this.#times.set(series, new Set([at]));
  }

  /** Undefined: too few records to decide. At the end fewer are enough, because no more will come. */
  verdict(isEnd = false): Verdict | undefined {
    const all = [...this.#gaps()];
    const sure = all.filter(({ isSure }) => isSure);
    const deciding = sure.length === 0 && isEnd ? all : sure;
    if (deciding.length === 0) return undefined;
    return deciding.some((gap) => !gap.isSparse) ? 'full' : 'thinned';
  }

  /** The series that look thinned, with the seconds between their records. */
  sparse(): [series: string, seconds: number][] {
    return [...this.#gaps()]
      .filter((gap) => gap.isSure && gap.isSparse)
      .map(({ series, seconds }) => [series, seconds]);
  }

  /** Seconds between records, of the series with the closest ones; undefined: no series has two. */
  closest(): number | undefined {
    const seconds = [...this.#gaps()].map((gap) => gap.seconds);
    return seconds.length === 0 ? undefined : Math.min(...seconds);
  }

  /** The typical gap of each series that has one. */
  *#gaps(): Generator<{ series: string; seconds: number; isSure: boolean; isSparse: boolean }> {
    for (const [series, times] of this.#times) {
      const gaps = gapsBetween(times);
      const seconds = gaps[Math.floor((gaps.length - 1) / 4)];
      if (seconds === undefined) continue;
      yield {
        series,
        seconds,
        isSure: gaps.length >= ENOUGH_GAPS,
        isSparse: isSparse(seconds, this.#slow.get(series)),
      };
    }
  }
}

/** Ascending. */
function gapsBetween(times: ReadonlySet<number>): number[] {
  const ordered = [...times].sort((a, b) => a - b);
  return ordered
    .slice(1)
    .map((time, i) => time - (ordered[i] ?? time))
    .sort((a, b) => a - b);
}
