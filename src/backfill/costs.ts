import { MS_PER_HOUR } from '../lib/duration.ts';
import { roughSpan } from '../lib/words.ts';

export interface Costs {
  readonly what: string;
  readonly requests: number;
  readonly sequences: number;
  readonly perSecond: number;
  readonly left: { readonly hour?: number; readonly month?: number };
  readonly isKnown: boolean;
  /** `left`: the requests that the running exporter does not need itself. */
  readonly isBeside?: boolean;
}

/** Whether the backfill takes more requests than are left this month. */
export function isOverBudget({ requests, left }: Costs): boolean {
  return left.month !== undefined && requests > left.month;
}

/** The costs, for the user to decide on before the backfill begins. */
export function costsText(costs: Costs): string {
  const { what, requests, sequences, perSecond, left, isKnown } = costs;
  const byHour = left.hour === undefined ? 0 : (MS_PER_HOUR * requests) / Math.max(1, left.hour);
  const ms = Math.max((1000 * requests) / perSecond, byHour);
  const rate = `${Number(perSecond.toFixed(2))} requests a second${isKnown ? '' : ' (assumed)'}`;
  return [
    `${what}`,
    `  requests  about ${requests}${sequences > 1 ? `, in ${sequences} spans` : ''}`,
    `  time      about ${roughSpan(ms)} at ${rate}`,
    `  quota     ${quotaText(costs)}`,
    '',
  ].join('\n');
}

function quotaText({ requests, left: { month }, isBeside = false }: Costs): string {
  if (month === undefined) return 'this plan has no known monthly quota';
  const beside = isBeside ? " after the exporter's own requests" : '';
  if (month === 0) return `nothing is left this month${beside}`;
  return `${Math.ceil((100 * requests) / month)} % of the ${month} requests left this month${beside}`;
}
