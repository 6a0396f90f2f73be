import type { Family, Sample } from '../../../src/toolkit/exposition/family.ts';

export function samplesOf(families: readonly Family[], name: string): readonly Sample[] {
  const family = families.find((one) => one.name === name);
  if (!family) throw new Error(`no family ${name}`);
  return family.samples;
}

/** The value of the only series with these labels. It may have others as well. undefined: there is none. */
export function sampleValue(
  families: readonly Family[],
  name: string,
  labels: Record<string, string> = {},
): number | undefined {
  const matching = samplesOf(families, name).filter((sample) =>
    Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  );
  if (matching.length > 1) throw new Error(`${matching.length} series of ${name} match`);
  return matching[0]?.value;
}
