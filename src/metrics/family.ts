import type { UnixSeconds } from '../lib/time.ts';
export type MetricType = 'gauge' | 'counter' | 'histogram' | 'summary';

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
  /** Unix seconds of the measurement; absent: the time of the scrape. */
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

/** What a part of the program declares once about a family; the samples come with each rendering. */
export type FamilyHead = Omit<Family, 'samples'>;

/** A family whose samples are worked out when they are asked for, once: large ones then take their turn in rendering. */
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

/** Joins the samples of families that several parts (one per chain, say) gave under one name, in order of first sight. */
export function mergeFamilies(families: Iterable<Family>): Family[] {
  const merged = new Map<string, Family & { samples: Sample[] }>();
  for (const family of families) {
    const known = merged.get(family.name);
    if (known) for (const sample of family.samples) known.samples.push(sample);
    else merged.set(family.name, { ...family, samples: [...family.samples] });
  }
  return [...merged.values()];
}
