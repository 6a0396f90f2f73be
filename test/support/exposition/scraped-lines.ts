import { Datapoint } from '../../../src/api/answers/daily-returns.ts';
import { datapoint, newestDay } from '../../../src/sandbox/daily-returns.ts';
import type { Sandbox } from '../../../src/sandbox/world.ts';
import { dailyReturnFamilies } from '../../../src/sources/daily-returns/index.ts';
import { encodeFamilies } from './encode.ts';

/** The samples of an exposition as a scrape at this time (Unix ms) stores them, as lines of OpenMetrics. */
export function scrapedLines(exposition: string, at: number, target: string): string[] {
  const samples = exposition.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return samples.map((line) => `${withTarget(line, target)} ${at / 1000}`);
}

/** Adds the labels that a scrape adds, as written. */
function withTarget(line: string, target: string): string {
  return line.replace(/^(\w+)(?:\{(.*)\})? /s, (_, name: string, labels?: string) =>
    labels ? `${name}{${target},${labels}} ` : `${name}{${target}} `,
  );
}

/** The daily returns of so many days that were published before `now`, one sample each, as a backfill writes them. */
export function pastReturns(sandbox: Sandbox, now: number, days: number, target: string): string[] {
  return (['mainnet', 'hoodi'] as const).flatMap((chain) => {
    const first = newestDay(sandbox, chain, now) - days + 1;
    return Array.from({ length: days }, (_, i) => {
      const day = Datapoint.parse(datapoint(sandbox, chain, first + i));
      return scrapedLines(encodeFamilies(dailyReturnFamilies(chain, [day]), 'text'), day.day_end * 1000, target);
    }).flat();
  });
}
