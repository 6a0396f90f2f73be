import {
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  ReduceDataOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import { FieldColorBuilder, FieldColorModeId, type Threshold } from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { type Limit, type Parts, split, splitAtEnd, withValueAtEnd } from '../limits.ts';
import { colorOf, GOOD, PLAIN } from '../look.ts';
import { begin, type PanelOptions, type Query, target, thresholdsOf } from './panel.ts';

interface Common extends PanelOptions {
  /** A number without a unit, unless given. */
  readonly unit?: string;
  readonly noValue?: string;
  /** The number has the name of its series, even if there is only one. */
  readonly isNamed?: boolean;
  /** With a sparkline. */
  readonly history?: true;
}

export interface StatOptions extends Common {
  readonly queries: readonly Query[];
  readonly steps?: readonly Threshold[];
}

export interface LimitedStatOptions extends Common {
  readonly query: Query;
  readonly limit: Limit;
  /** If comparing the query with the limit is not enough. */
  readonly parts?: Parts;
}

/** Grafana draws the sparkline only if about 100 pixels are free: four rows are too low. */
const HEIGHT = 5;

/** One number, or a few, as of now. */
export function stat({ queries, steps = PLAIN, ...options }: StatOptions): PanelBuilder {
  const shown = queries.map(([expr, name]): Query => [options.history ? withValueAtEnd(expr) : expr, name]);
  return plain(options, shown)
    .thresholds(thresholdsOf(steps))
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds));
}

/**
 * The same with the colour of an alert. Grafana compares with fixed numbers only, so the queries compare: one returns
 * values within the limit, the other values beyond it.
 */
export function limitedStat({ query: [expr, name], limit, parts, ...options }: LimitedStatOptions): PanelBuilder {
  const color = (fixed: string): FieldColorBuilder =>
    new FieldColorBuilder().mode(FieldColorModeId.Fixed).fixedColor(fixed);
  const { within, beyond } = parts ?? (options.history ? splitAtEnd(expr, limit) : split(expr, limit));
  return plain(options, [
    [within, name],
    [beyond, name],
  ])
    .colorScheme(color(GOOD))
    .overrideByQuery('B', [{ id: 'color', value: color(colorOf(limit.alert)).build() }]);
}

function plain(
  { unit = 'none', noValue, isNamed, history, ...options }: Common,
  queries: readonly Query[],
): PanelBuilder {
  const panel = begin(new PanelBuilder(), options, 4, HEIGHT)
    .unit(unit)
    .targets(queries.map((one, i) => (history ? target(one, i).range() : target(one, i).instant())))
    .graphMode(history ? BigValueGraphMode.Area : BigValueGraphMode.None)
    .colorMode(BigValueColorMode.Value)
    .textMode(isNamed ? BigValueTextMode.ValueAndName : BigValueTextMode.Auto)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']));
  return noValue === undefined ? panel : panel.noValue(noValue);
}
