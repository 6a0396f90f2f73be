import type { Family, Labels, Sample } from '../toolkit/exposition/family.ts';
import { SECONDS_PER_DAY } from '../toolkit/lib/duration.ts';
import type { Seconds, UnixSeconds } from '../toolkit/lib/time.ts';

export interface SeriesOptions {
  /** Added to each sample. */
  readonly labels: Labels;
  /** Samples of other chains are dropped. Samples without a chain are kept. */
  readonly chains: ReadonlySet<string>;
  /** After this time a sample is repeated, for a day and never beyond `end`. */
  readonly step: Seconds | undefined;
  readonly end: UnixSeconds;
}

/**
 * The samples of a family in the order that OpenMetrics requires: series by series, each in ascending time. If a series
 * has several samples at one time, the first one is used.
 */
export function* samplesBySeries(family: Family, options: SeriesOptions): Generator<Sample> {
  const series = new Map<string, Sample[]>();
  for (const sample of family.samples) {
    const { chain } = sample.labels;
    if (chain !== undefined && !options.chains.has(chain)) continue;
    // Values are enough: within a family the names are the same.
    const key = Object.values(sample.labels).join('\0');
    const samples = series.get(key);
    if (samples) samples.push(sample);
    else series.set(key, [sample]);
  }
  for (const samples of series.values()) {
    for (const sample of ascending(samples)) {
      // Created only now, so that each copy becomes garbage as soon as it is written.
      yield* repeated({ ...sample, labels: { ...sample.labels, ...options.labels } }, options);
    }
  }
}

function ascending(samples: Sample[]): Sample[] {
  samples.sort((a, b) => timeOf(a) - timeOf(b));
  return samples.filter((sample, i) => i === 0 || timeOf(sample) > timeOf(samples[i - 1] as Sample));
}

function timeOf({ at }: Sample): UnixSeconds {
  if (at === undefined) throw new TypeError('a sample of the past without its time');
  return at;
}

/** A value is valid until the next one, a day later. If the next one is missing, the gap remains. */
function* repeated(sample: Sample, { step, end }: SeriesOptions): Generator<Sample> {
  yield sample;
  if (step === undefined) return;
  const first = timeOf(sample);
  const last = Math.min(end, first + SECONDS_PER_DAY - 1);
  for (let at = first + step; at <= last; at += step) yield { ...sample, at };
}
