import type { Datapoint } from '../../api/answers/daily-returns.ts';
import { html } from '../../toolkit/lib/html.ts';
import { percent } from '../../toolkit/lib/words.ts';
import { lines, NOT_KNOWN, quiet, type Summary, time } from '../content.ts';
import type { Timing } from '../source.ts';

/** Required by the terms of the service. */
const TERMS = 'The daily return must not be used as a financial benchmark.';

/** The newest day. */
export function dailyReturnSummary(day: Datapoint | undefined, { now }: Timing): Summary {
  if (!day) return { facts: [['Daily return', NOT_KNOWN]], notes: [TERMS] };
  const { apr, moving_averages: averages } = day;
  const { window_7d: week, window_31d: month } = averages;
  return {
    facts: [
      [
        'Daily return',
        lines(
          `${rate(apr.combined)} a year, day ${day.day}`,
          quiet(`consensus layer ${rate(apr.consensus_layer)}, execution layer ${rate(apr.execution_layer)}`),
          quiet(`7 days ${rate(week.apr.combined)}, 31 days ${rate(month.apr.combined)}`),
          html`day ended ${time(day.day_end * 1000, now)}`,
        ),
      ],
    ],
    notes: [TERMS],
  };
}

function rate(ratio: number | null | undefined): string {
  return ratio == null ? 'not reported' : percent(ratio, 2);
}
