import type { UnixMs, UnixSeconds } from '../lib/time.ts';

export type MetricType = 'gauge' | 'counter' | 'histogram';

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
  /** The time of the measurement, for OpenMetrics alone. Absent: the time of the scrape. */
  readonly at?: UnixSeconds;
  /** Of a histogram: `_bucket`, `_sum` or `_count`, appended to the family's name. */
  readonly suffix?: string;
  /** When to compute the sample again. Absent: only after a change. */
  readonly until?: UnixMs | undefined;
}

/** A metric family as plain data. Counters are named with their `_total`. */
export interface Family {
  readonly name: string;
  readonly type: MetricType;
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** A family without its samples, declared once. */
export type FamilyHead = Omit<Family, 'samples'>;

/**
 * A family whose samples are computed whenever they are read, so that rendering computes large families one at a time and
 * does not keep them.
 */
export function lazyFamily({ name, type, help }: FamilyHead, read: () => Sample[]): Family {
  return {
    name,
    type,
    help,
    get samples() {
      return read();
    },
  };
}

/** Merges families of one name, such as those of several sources, in order of first appearance. */
export function mergeFamilies(families: Iterable<Family>): Family[] {
  const merged = new Map<string, Family & { samples: Sample[] }>();
  for (const { name, type, help, samples } of families) {
    const known = merged.get(name);
    if (known) for (const sample of samples) known.samples.push(sample);
    else merged.set(name, { name, type, help, samples: [...samples] });
  }
  return [...merged.values()];
}
