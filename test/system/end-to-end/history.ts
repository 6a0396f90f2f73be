import { Played } from '../../simulation/stories/played.ts';
import { pastReturns, scrapedLines } from '../../support/exposition/scraped-lines.ts';
import { HOUR, MINUTE } from '../../support/time/timing.ts';

/** As in the demo. */
const FILE = {
  chains: { mainnet: {}, hoodi: {} },
  machines: { chain_rules: [{ match: 'hoodi-*', chain: 'hoodi' }] },
  validators: { watch: { mainnet: ['12340-12349'], hoodi: ['500-504'] } },
};

/** So often that a few hours contain slashings of every kind. */
const SLOTS_PER_SLASHING = 5;
const WATCHED = { validators: { mainnet: [12_340, 12_349], hoodi: [500] }, slots: 8 };

export interface HistoryOptions {
  /** End of the history, Unix ms. */
  readonly end: number;
  readonly hours: number;
  /** Days before that with daily returns only: one sample a day, as a backfill writes them. */
  readonly days: number;
  /** The labels that a scrape adds, as written. */
  readonly target: string;
}

/** The samples that scrapes of an exporter would have brought, minute by minute, as OpenMetrics. */
export async function history({ end, hours, days, target }: HistoryOptions): Promise<string> {
  const start = end - hours * HOUR;
  const sandbox = { slotsPerSlashing: SLOTS_PER_SLASHING, watched: WATCHED };
  const story = new Played({ start, sandbox, file: FILE });
  const lines = pastReturns(story.sandbox, start, days, target);
  while (story.now < end) {
    await story.advance(MINUTE);
    lines.push(...scrapedLines(story.metrics, story.now, target));
  }
  return `${lines.join('\n')}\n# EOF\n`;
}
