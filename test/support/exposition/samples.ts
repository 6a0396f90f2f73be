import type { Chain } from '../../../src/facts/chain.ts';
import type { Family, Sample } from '../../../src/toolkit/exposition/family.ts';

export function samplesOf(families: readonly Family[], name: string): readonly Sample[] {
  const family = families.find((one) => one.name === name);
  if (!family) throw new Error(`no family ${name}`);
  return family.samples;
}

type Labels = Readonly<Record<string, string>>;

/** The value of the only series with these labels. It may have others as well. undefined: there is none. */
export function sampleValue(families: readonly Family[], name: string, labels?: Labels): number | undefined {
  return onlyValue(samplesOf(families, name), name, labels);
}

/** The same, of the samples of one family. */
export function onlyValue(
  samples: readonly Pick<Sample, 'labels' | 'value'>[],
  name: string,
  labels: Labels = {},
): number | undefined {
  const matching = samples.filter((sample) =>
    Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  );
  if (matching.length > 1) throw new Error(`${matching.length} series of ${name} match`);
  return matching[0]?.value;
}

/** Every sample of this chain, by its name without prefix and the values of its other labels. There is no other chain. */
export function seriesIn(families: readonly Family[], chain: Chain): Record<string, number> {
  const series = families.flatMap(({ name, samples }) =>
    [...samples].map(({ labels: { chain: own, ...labels }, value }) => {
      if (own !== chain) throw new Error(`${name} is of ${own}`);
      return [[name.replace('beaconchain_', ''), ...Object.values(labels)].join(' '), value];
    }),
  );
  return Object.fromEntries(series);
}
