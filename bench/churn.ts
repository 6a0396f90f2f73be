import { Child } from './child.ts';
import type { Hour } from './churn-day.ts';
import { table, verdict } from './report.ts';
import { digits } from './stats.ts';

const SHOWN = new Set([1, 4, 8, 12, 16, 20, 24]);

/** Memory over a simulated day of 100 machines, ten of which are others every hour and are forgotten after two. */
export async function benchChurn(): Promise<void> {
  const child = new Child<Hour>('churn-day.ts', { node: ['--expose-gc'] });
  const hours: Hour[] = [];
  while (hours.length < 24) hours.push(await child.message());
  const at = (hour: number): Hour | undefined => hours[hour - 1];
  // By the fourth hour as many are forgotten as come.
  const growth = (at(24)?.heapMiB ?? Number.NaN) / (at(4)?.heapMiB ?? Number.NaN);
  table(
    'Memory over a simulated day of churn; the heap of the last hour is to be within 10 % of that of the fourth',
    ['hour', 'machines known', 'heap', 'RSS', ''],
    hours
      .filter(({ hour }) => SHOWN.has(hour))
      .map(({ hour, known, heapMiB, rssMiB }) => [
        `${hour}`,
        `${known}`,
        `${digits(heapMiB)} MiB`,
        `${digits(rssMiB)} MiB`,
        hour === 24 ? `${((growth - 1) * 100).toFixed(1)} %, ${verdict(growth <= 1.1)}` : '',
      ]),
  );
}
