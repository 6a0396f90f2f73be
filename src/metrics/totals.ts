import type { Family, Sample } from './family.ts';

/** Counters and histograms of earlier processes. Persisted, so that a restart is not a reset. */
export type Totals = readonly {
  readonly name: string;
  readonly samples: readonly Omit<Sample, 'at'>[];
}[];

/** Adds what earlier processes counted to what this one did; other types pass. */
export function withTotals(families: readonly Family[], earlier: Totals): Family[] {
  const known = new Map(earlier.map(({ name, samples }) => [name, samples]));
  return families.map((family) => {
    const before = new Map((known.get(family.name) ?? []).map((sample) => [identity(sample), sample]));
    if (!isCounted(family) || before.size === 0) return family;
    const samples = family.samples.map((sample) => {
      const value = sample.value + (before.get(identity(sample))?.value ?? 0);
      before.delete(identity(sample));
      return { ...sample, value };
    });
    // Series that this process has not counted yet go on as they were.
    return { ...family, samples: [...samples, ...before.values()] };
  });
}

/** What is to be persisted of families that `withTotals` gave. */
export function totalsOf(families: readonly Family[]): Totals {
  return families.filter(isCounted).map(({ name, samples }) => ({ name, samples: samples.map(plain) }));
}

/** The counters as in `shown`, the rest as in `families`. */
export function withCountersOf(families: readonly Family[], shown: readonly Family[]): Family[] {
  const counters = new Map(shown.filter(isCounted).map((family) => [family.name, family]));
  return families.flatMap((family) => (isCounted(family) ? (counters.get(family.name) ?? []) : family));
}

function isCounted({ type }: Family): boolean {
  return type === 'counter' || type === 'histogram';
}

function identity({ labels, suffix = '' }: Pick<Sample, 'labels' | 'suffix'>): string {
  return JSON.stringify([suffix, Object.entries(labels).sort()]);
}

function plain({ labels, suffix, value }: Sample): Totals[number]['samples'][number] {
  return { labels: { ...labels }, value, ...(suffix === undefined ? {} : { suffix }) };
}
