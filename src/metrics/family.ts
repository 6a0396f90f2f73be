import type { UnixSeconds } from '../lib/time.ts';

export type MetricType = 'gauge' | 'counter' | 'histogram' | 'summary';

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
  /** When it was measured; absent: at the scrape. */
  readonly at?: UnixSeconds;
  /** For histograms and summaries: `_bucket`, `_sum` or `_count`, appended to the family's name. */
  readonly suffix?: string;
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

/** A family whose samples are computed on first use, so that rendering computes large families one at a time. */
export function lazyFamily({ name, type, help }: FamilyHead, read: () => Sample[]): Family {
  let samples: Sample[] | undefined;
  return {
    name,
    type,
    help,
    get samples() {
      samples ??= read();
      return samples;
    },
  };
}

/** Merges families of one name, such as those of several chains, in order of first appearance. */
export function mergeFamilies(families: Iterable<Family>): Family[] {
  const merged = new Map<string, Family & { samples: Sample[] }>();
  for (const family of families) {
    const known = merged.get(family.name);
    if (known) for (const sample of family.samples) known.samples.push(sample);
    else merged.set(family.name, { ...family, samples: [...family.samples] });
  }
  return [...merged.values()];
}
