import type { Family, FamilyHead, Sample } from './family.ts';

/** Counters and histograms as plain data. Persisted, so that a restart is not a reset. */
export type Totals = readonly Total[];

interface Total {
  readonly name: string;
  readonly samples: readonly Omit<Sample, 'at'>[];
}

/** Adds what was counted before, or elsewhere, to these; families that are not among these are left out. */
export function withTotals<T extends Total>(totals: readonly T[], others: Totals): T[] {
  const known = new Map(others.map(({ name, samples }) => [name, samples]));
  return totals.map((total) => {
    const more = new Map((known.get(total.name) ?? []).map((sample) => [identity(sample), sample]));
    if (more.size === 0) return total;
    const samples = total.samples.map((sample) => {
      const id = identity(sample);
      const value = sample.value + (more.get(id)?.value ?? 0);
      more.delete(id);
      return { ...sample, value };
    });
    // Series that these have not counted yet keep their earlier values.
    return { ...total, samples: [...samples, ...more.values()] };
  });
}

/** The family of this name; without samples where nothing was counted. */
export function familyOf(head: FamilyHead, totals: Totals): Family {
  return { ...head, samples: totals.find(({ name }) => name === head.name)?.samples ?? [] };
}

/** For a counter without labels. */
export function totalOf(name: string, totals: Totals): number {
  return totals.find((total) => total.name === name)?.samples[0]?.value ?? 0;
}

function identity({ labels, suffix = '' }: Pick<Sample, 'labels' | 'suffix'>): string {
  return suffix + identityOf(labels);
}

/** Labels are never changed, and most are compared each second. */
const identities = new WeakMap<Sample['labels'], string>();

function identityOf(labels: Sample['labels']): string {
  const known = identities.get(labels);
  if (known !== undefined) return known;
  let made = '';
  // The length tells where a value ends, whatever it contains.
  for (const name of Object.keys(labels).sort()) made += `${name}=${labels[name]?.length}:${labels[name]},`;
  identities.set(labels, made);
  return made;
}
