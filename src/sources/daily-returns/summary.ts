import type { Chain } from '../../lib/chain.ts';
import { SECONDS_PER_DAY } from '../../lib/duration.ts';
import { html } from '../../lib/html.ts';
import { percent, span } from '../../lib/words.ts';
import { firing, THRESHOLDS } from '../conditions.ts';
import { lines, NOT_KNOWN, type Notice, quiet, type Summary, time } from '../content.ts';
import type { Polls, Timing } from '../source.ts';
import type { Datapoint } from './schema.ts';

/** Required by the terms of the service. */
const TERMS = 'The daily return must not be used as a financial benchmark.';

/** The newest day. */
export function dailyReturnSummary(chain: Chain, day: Datapoint | undefined, { now }: Timing, polls: Polls): Summary {
  if (!day) return { facts: [['Daily return', NOT_KNOWN]], notes: [TERMS] };
  const { apr, moving_averages: averages } = day;
  const { window_7d: week, window_31d: month } = averages;
  return {
    notices: lateNotices(chain, day, polls),
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

/** Evaluated at the last successful poll: if polling stops, the day is not late. */
function lateNotices(chain: Chain, { day_end }: Datapoint, { lastSuccessAt }: Polls): Notice[] {
  if (lastSuccessAt === undefined || day_end <= 0) return [];
  const late = lastSuccessAt / 1000 - day_end - SECONDS_PER_DAY;
  return late > THRESHOLDS.daily_return_late_seconds
    ? [firing('BeaconchainDailyReturnLate', [chain], span(late * 1000))]
    : [];
}

function rate(ratio: number | null | undefined): string {
  return ratio == null ? 'not reported' : percent(ratio, 2);
}
