import {
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  ReduceDataOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import { FieldColorBuilder, FieldColorModeId, type Threshold } from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { beyond, type Limit, within } from '../limits.ts';
import { colorOf, GOOD, PLAIN } from '../look.ts';
import { begin, type PanelOptions, type Query, target, thresholdsOf } from './panel.ts';

interface Common extends PanelOptions {
  readonly unit: string;
  readonly noValue?: string;
  /** The name of the series stands beside the number also where there is only one. */
  readonly isNamed?: boolean;
}

export interface StatOptions extends Common {
  readonly queries: readonly Query[];
  readonly steps?: readonly Threshold[];
  /** With a line of how it was. */
  readonly history?: true;
}

export interface LimitedStatOptions extends Common {
  readonly query: Query;
  readonly limit: Limit;
}

/** One number, or a few, as of now. */
export function stat({ history, steps = PLAIN, ...options }: StatOptions): PanelBuilder {
  const query = (one: Query, i: number) => (history ? target(one, i).range() : target(one, i).instant());
  return plain(options)
    .targets(options.queries.map(query))
    .graphMode(history ? BigValueGraphMode.Area : BigValueGraphMode.None)
    .thresholds(thresholdsOf(steps))
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds));
}

/**
 * The same with the colour of an alert. Grafana compares with fixed numbers only, so the queries compare: one gives what
 * is within the limit, the other what is beyond it.
 */
export function limitedStat({ query: [expr, name], limit, ...options }: LimitedStatOptions): PanelBuilder {
  const color = (fixed: string): FieldColorBuilder =>
    new FieldColorBuilder().mode(FieldColorModeId.Fixed).fixedColor(fixed);
  return plain(options)
    .targets([target([within(expr, limit), name], 0).instant(), target([beyond(expr, limit), name], 1).instant()])
    .graphMode(BigValueGraphMode.None)
    .colorScheme(color(GOOD))
    .overrideByQuery('B', [{ id: 'color', value: color(colorOf(limit.alert)).build() }]);
}

function plain({ unit, noValue, isNamed, ...options }: Common): PanelBuilder {
  const panel = begin(new PanelBuilder(), options, 4, 4)
    .unit(unit)
    .colorMode(BigValueColorMode.Value)
    .textMode(isNamed ? BigValueTextMode.ValueAndName : BigValueTextMode.Auto)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']));
  return noValue === undefined ? panel : panel.noValue(noValue);
}
