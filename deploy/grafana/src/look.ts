import { MappingType, type Threshold, type ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard';
import { severityOf } from './rules.ts';

export const GOOD = 'green';
export const BAD = 'red';
export const POOR = 'orange';
const NEWS = 'blue';

/** Critical alerts are red and warnings orange, as on the exporter's own page. */
export function colorOf(alert: string): string {
  const colors = { critical: BAD, warning: POOR, info: NEWS, none: NEWS };
  return colors[severityOf(alert)];
}

/** Good below this number. For counts of bad things: limits of alerts are queries, see Limit. */
export function from(value: number, color: string = POOR): Threshold[] {
  return [
    { value: null, color: GOOD },
    { value, color },
  ];
}

export const PLAIN: readonly Threshold[] = [{ value: null, color: NEWS }];

export interface Word {
  readonly text: string;
  readonly color: string;
}

/** A word for each number or text. */
export function named(words: Readonly<Record<string, Word>>): ValueMapping[] {
  const options = Object.entries(words).map(([value, word], index) => [value, { ...word, index }]);
  return [{ type: MappingType.ValueToText, options: Object.fromEntries(options) }];
}

/** Words for 1 and 0. */
export function words(one: string, zero: string, bad: 'one' | 'zero' | 'neither' = 'zero'): ValueMapping[] {
  const color = (which: 'one' | 'zero'): string => (bad === 'neither' ? 'text' : which === bad ? BAD : GOOD);
  return named({ 1: { text: one, color: color('one') }, 0: { text: zero, color: color('zero') } });
}
