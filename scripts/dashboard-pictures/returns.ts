import { datapoints, newestDay } from '../../src/sandbox/daily-returns-data.ts';
import { dailyReturnFamilies } from '../../src/sources/daily-returns/metrics.ts';
import { Datapoint } from '../../src/sources/daily-returns/schema.ts';
import { encodeFamilies } from '../../test/support/encode.ts';
import { scrapedLines } from './scraped-lines.ts';

const DAYS = 100;

/** The daily returns that were published before `now`, one sample a day, as a backfill writes them. */
export function returns(seed: number, now: number): string[] {
  return (['mainnet', 'hoodi'] as const).flatMap((chain) => {
    const newest = newestDay(chain, now);
    const days = datapoints(seed, chain, newest, newest - DAYS + 1)
      .reverse()
      .map((wire) => Datapoint.parse(wire));
    return days.flatMap((day) => {
      const text = encodeFamilies(dailyReturnFamilies(chain, day), 'text');
      return scrapedLines(text, day.day_end * 1000).slice(0, -1);
    });
  });
}
