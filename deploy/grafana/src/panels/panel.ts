import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import {
  LegendDisplayMode,
  LegendPlacement,
  SortOrder,
  TooltipDisplayMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import {
  type Threshold,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';

// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana's variable.
export const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

/** A query and the name of its line. */
export type Query = readonly [expr: string, legend: string];

export interface PanelOptions {
  readonly title: string;
  /** What the panel shows, and how to judge it. */
  readonly description: string;
  readonly decimals?: number;
  readonly min?: number;
  readonly max?: number;
  /** Columns of 24. */
  readonly span?: number;
  readonly height?: number;
  readonly mappings?: readonly ValueMapping[];
  /** Instead of the selected time range: from here until now, as in `now/w`. */
  readonly since?: string;
}

/** The methods that all kinds of panels have. */
interface AnyPanel extends Builder<unknown> {
  title(text: string): this;
  description(text: string): this;
  datasource(source: typeof DATASOURCE): this;
  decimals(decimals: number): this;
  min(min: number): this;
  max(max: number): this;
  mappings(mappings: ValueMapping[]): this;
  targets(targets: Builder<Dataquery>[]): this;
  span(columns: number): this;
  height(rows: number): this;
  timeFrom(since: string): this;
}

export function begin<P extends AnyPanel>(panel: P, options: PanelOptions, span: number, height: number): P {
  panel.title(options.title).description(options.description).datasource(DATASOURCE);
  panel.span(options.span ?? span).height(options.height ?? height);
  if (options.decimals !== undefined) panel.decimals(options.decimals);
  if (options.min !== undefined) panel.min(options.min);
  if (options.max !== undefined) panel.max(options.max);
  if (options.mappings) panel.mappings([...options.mappings]);
  if (options.since) panel.timeFrom(options.since);
  return panel;
}

export function target([expr, legend]: Query, i: number): DataqueryBuilder {
  return new DataqueryBuilder().datasource(DATASOURCE).expr(expr).legendFormat(legend).refId(refIdOf(i));
}

export function refIdOf(i: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + i);
}

export function thresholdsOf(steps: readonly Threshold[]): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([...steps]);
}

/** Below the panel; with numbers for each line, a table. */
export function legend(calcs: readonly string[]): VizLegendOptionsBuilder {
  return new VizLegendOptionsBuilder()
    .displayMode(calcs.length > 0 ? LegendDisplayMode.Table : LegendDisplayMode.List)
    .placement(LegendPlacement.Bottom)
    .calcs([...calcs])
    .showLegend(true);
}

export function tooltip(): VizTooltipOptionsBuilder {
  return new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending);
}
