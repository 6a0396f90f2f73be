import { SECONDS_PER_DAY } from '../lib/duration.ts';
import type { Seconds, UnixSeconds } from '../lib/time.ts';
import type { Family, Labels, Sample } from '../metrics/family.ts';

export interface SeriesOptions {
  /** Added to each sample. */
  readonly labels: Labels;
  /** Samples of other chains are left out. Those without a chain are kept. */
  readonly chains: ReadonlySet<string>;
  /** After this time a sample is repeated, for a day and never beyond `now`. */
  readonly step: Seconds | undefined;
  readonly now: UnixSeconds;
  /** Whether scrapes have a sample of the series at this time. It is left out then. */
  readonly isScraped: (labels: Labels, at: UnixSeconds) => boolean;
}

/**
 * The samples of a family in the order that OpenMetrics demands: series by series, each in ascending time. Of several
 * samples of a series at one time the first counts.
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
      // Only now: each copy is garbage as soon as it is written.
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

/** A value holds until the next one, a day later. Where that one is missing, the gap stays. */
function* repeated(sample: Sample, { step, now, isScraped }: SeriesOptions): Generator<Sample> {
  const first = timeOf(sample);
  const last = step === undefined ? first : Math.min(now, first + SECONDS_PER_DAY - 1);
  for (let at = first; at <= last; at += step ?? SECONDS_PER_DAY) {
    if (!isScraped(sample.labels, at)) yield at === first ? sample : { ...sample, at };
  }
}
