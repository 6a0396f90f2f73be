import {
  GraphDrawStyle,
  GraphGradientMode,
  LineInterpolation,
  ScaleDistribution,
  ScaleDistributionConfigBuilder,
  StackingConfigBuilder,
  StackingMode,
  VisibilityMode,
} from '@grafana/grafana-foundation-sdk/common';
import { FieldColorBuilder, FieldColorModeId } from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import type { Limit } from '../limits.ts';
import { colorOf } from '../look.ts';
import { begin, legend, type PanelOptions, type Query, target, tooltip } from './panel.ts';

export interface GraphOptions extends PanelOptions {
  /** A number without a unit, unless given. */
  readonly unit?: string;
  readonly queries: readonly Query[];
  /** A dashed line where the alert begins. */
  readonly limit?: Limit;
  readonly stacked?: boolean;
  /** There are so many lines that an area below each would hide others. */
  readonly isCrowded?: boolean;
  /** Values hold until the next one. */
  readonly held?: boolean;
  /** Stacked bars. */
  readonly bars?: boolean;
  readonly logarithmic?: boolean;
  /** The shortest step: the interval at which values arrive. */
  readonly interval?: string;
  /** Gaps up to this many milliseconds are bridged. */
  readonly bridge?: number;
  /** Colours by name of line, a regular expression. */
  readonly colors?: Readonly<Record<string, string>>;
  readonly softMax?: number;
}

/**
 * The shortest step for rates: it contains two scrapes a minute apart, even if the data source has no scrape interval.
 */
export const RATE_STEP = '2m';

/**
 * How rates of machines are drawn: records and polls come each minute, but polls two hours apart on the smallest plan.
 */
export const MACHINE_RATE = { min: 0, interval: '5m', bridge: 3 * 3_600_000 } as const;

/** How numbers of things are drawn. */
export const WHOLE = { min: 0, decimals: 0 } as const;

/** Lines over time. */
export function graph({ limit, ...options }: GraphOptions): PanelBuilder {
  const queries = limit ? [lineOf(limit), ...options.queries] : options.queries;
  const isLeastWorse = limit?.bad === '<';
  const panel = begin(new PanelBuilder(), options, 12, 9)
    .unit(options.unit ?? 'none')
    .targets(queries.map((query, i) => target(query, i).range()))
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.PaletteClassic))
    .drawStyle(options.bars ? GraphDrawStyle.Bars : GraphDrawStyle.Line)
    .lineWidth(options.bars ? 0 : 1)
    .fillOpacity(fillOf(options))
    .gradientMode(options.bars || options.stacked ? GraphGradientMode.None : GraphGradientMode.Opacity)
    .showPoints(VisibilityMode.Auto)
    .spanNulls(options.bridge ?? false)
    .legend(legend(options.bars ? ['max'] : ['lastNotNull', 'mean', isLeastWorse ? 'min' : 'max']))
    .tooltip(tooltip());
  if (options.bars || options.stacked) panel.stacking(new StackingConfigBuilder().mode(StackingMode.Normal));
  if (options.held) panel.lineInterpolation(LineInterpolation.StepAfter);
  if (options.interval) panel.interval(options.interval);
  if (options.softMax !== undefined) panel.axisSoftMax(options.softMax);
  if (options.logarithmic)
    panel.scaleDistribution(new ScaleDistributionConfigBuilder().type(ScaleDistribution.Log).log(10));
  for (const [name, color] of Object.entries(options.colors ?? {})) {
    panel.overrideByRegexp(name, [{ id: 'color', value: { mode: 'fixed', fixedColor: color } }]);
  }
  if (limit) {
    panel.overrideByName(nameOf(limit), [
      { id: 'color', value: { mode: 'fixed', fixedColor: colorOf(limit.alert) } },
      { id: 'custom.lineStyle', value: { fill: 'dash', dash: [10, 10] } },
      { id: 'custom.fillOpacity', value: 0 },
      { id: 'custom.stacking', value: { mode: 'none', group: 'limit' } },
      { id: 'custom.showPoints', value: 'never' },
    ]);
  }
  return panel;
}

function lineOf({ alert, than }: Limit): Query {
  return [`vector(${than})`, nameOf({ alert })];
}

function nameOf({ alert }: Pick<Limit, 'alert'>): string {
  return `alert ${alert}`;
}

function fillOf({ bars, stacked, isCrowded }: GraphOptions): number {
  if (bars) return 80;
  if (stacked) return 40;
  return isCrowded ? 0 : 15;
}
