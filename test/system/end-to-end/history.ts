import { Datapoint } from '../../../src/api/answers/daily-returns.ts';
import { sourceFamilies } from '../../../src/exporter/metrics.ts';
import { datapoint, newestDay } from '../../../src/sandbox/daily-returns.ts';
import { dailyReturnFamilies } from '../../../src/sources/daily-returns/index.ts';
import { OPENMETRICS_EOF } from '../../../src/toolkit/exposition/encode.ts';
import { type Family, type Labels, mergeFamilies } from '../../../src/toolkit/exposition/family.ts';
import { encodeFamily } from '../../support/exposition/encode.ts';
import { BOTH_CHAINS, defaultConfig } from '../../support/runs/default-config.ts';
import { configured } from '../../support/runs/default-config.ts';
import { SandboxRun } from '../../support/runs/sandbox-run.ts';
import { HOUR, MINUTE } from '../../support/time/timing.ts';

/** As in the demo. */
const WATCH = {
  mainnet: [{ first: 12_340, last: 12_349 }],
  hoodi: [{ first: 500, last: 504 }],
};

/** So often that a few hours contain slashings of every kind. */
const SLOTS_PER_SLASHING = 5;

export interface HistoryOptions {
  /** End of the history, Unix ms. */
  readonly end: number;
  readonly hours: number;
  /** Days before that with daily returns only: one sample a day, as a backfill writes them. */
  readonly days: number;
  /** Labels that Prometheus adds, such as `job`. */
  readonly labels: Labels;
}

/** The samples that scrapes of an exporter would have brought, minute by minute, as OpenMetrics. */
export async function history({ end, hours, days, labels }: HistoryOptions): Promise<string> {
  const start = end - hours * HOUR;
  const defaults = defaultConfig();
  const machines = { ...defaults.machines, chainRules: [{ match: 'hoodi-*', chain: 'hoodi' as const }] };
  const slashings = { ...defaults.slashings, watch: WATCH };
  const run = new SandboxRun({
    start,
    sources: configured({ ...BOTH_CHAINS, machines, slashings }),
    sandbox: {
      plan: 'scale',
      slotsPerSlashing: SLOTS_PER_SLASHING,
      watched: { validators: { mainnet: [12_340, 12_349], hoodi: [500] }, slots: 8 },
    },
  });
  const scrapes: Family[] = [];
  const scrape = (families: readonly Family[], at: number): void => {
    scrapes.push(
      ...families.map((family) => ({
        ...family,
        samples: family.samples.map((sample) => ({ ...sample, labels: { ...sample.labels, ...labels }, at })),
      })),
    );
  };
  for (const chain of ['mainnet', 'hoodi'] as const) {
    const newest = newestDay(run.sandbox, chain, start);
    for (let n = newest - days + 1; n <= newest; n += 1) {
      const day = Datapoint.parse(datapoint(run.sandbox, chain, n));
      scrape(dailyReturnFamilies(chain, [day]), day.day_end);
    }
  }
  while (run.clock.now() < end) {
    await run.clock.advance(MINUTE);
    const at = run.clock.now() / 1000;
    const views = run.scheduler.views();
    const families = views.flatMap(({ source, entry, timing, inputs }) => source.metrics(entry.value, timing, inputs));
    scrape([...families, ...sourceFamilies(views)], at);
  }
  await run.stop();
  const text = mergeFamilies(scrapes).map((family) => encodeFamily(family, 'openmetrics'));
  return text.join('') + OPENMETRICS_EOF;
}
