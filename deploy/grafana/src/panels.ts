import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import {
  BigValueColorMode,
  BigValueGraphMode,
  GraphDrawStyle,
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  LineInterpolation,
  ReduceDataOptionsBuilder,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TableCellHeight,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import {
  type DynamicConfigValue,
  FieldColorBuilder,
  FieldColorModeId,
  type Threshold,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table';
import { PanelBuilder as GraphBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import { PLAIN } from './look.ts';

// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana's variable.
export const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

/** A query and the name of its line. */
export type Query = readonly [expr: string, legend: string];

interface Common {
  readonly title: string;
  /** What it is, and what to think of it. */
  readonly description: string;
  readonly unit?: string;
  readonly decimals?: number;
  readonly min?: number;
  readonly max?: number;
  /** Columns of 24. */
  readonly span?: number;
  readonly steps?: readonly Threshold[];
  readonly mappings?: readonly ValueMapping[];
}

export interface StatOptions extends Common {
  readonly queries: readonly Query[];
  readonly noValue?: string;
}

export interface GraphOptions extends Common {
  readonly queries: readonly Query[];
  readonly height?: number;
  readonly stacked?: boolean;
  /** Values hold until the next one. */
  readonly held?: boolean;
  readonly bars?: boolean;
  /** The shortest step: no shorter than values come. */
  readonly interval?: string;
  /** Gaps up to this many milliseconds are bridged. */
  readonly bridge?: number;
  /** Colours by name of line, a regular expression. */
  readonly colors?: Readonly<Record<string, string>>;
  readonly softMax?: number;
}

/** The shortest step for rates: two scrapes of a minute are in it, even if the data source says nothing of them. */
export const RATE_STEP = '2m';

/**
 * How rates of machines are drawn: records come each minute, polls are as rare; on the smallest plan they are two hours
 * apart.
 */
export const MACHINE_RATE = { min: 0, interval: '5m', bridge: 3 * 3_600_000 } as const;

export interface Column {
  readonly name: string;
  readonly unit?: string;
  readonly decimals?: number;
  readonly width?: number;
  readonly steps?: readonly Threshold[];
  readonly mappings?: readonly ValueMapping[];
  /** A bar from 0 to 1. */
  readonly gauge?: boolean;
  readonly link?: { readonly title: string; readonly url: string };
}

export interface TableOptions extends Pick<Common, 'title' | 'description' | 'span'> {
  readonly height?: number;
  /** Value columns, by their query. */
  readonly values: readonly (readonly [expr: string, column: Column])[];
  /** Columns that are labels, in front, by label. */
  readonly labels: Readonly<Record<string, Column>>;
  /** Name of a column; the largest first, or of words the first of the alphabet. */
  readonly sortBy: string;
  readonly ascending?: boolean;
  readonly noValue?: string;
}

function target([expr, legend]: Query, i: number): DataqueryBuilder {
  return new DataqueryBuilder().datasource(DATASOURCE).expr(expr).legendFormat(legend).refId(refIdOf(i));
}

function refIdOf(i: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + i);
}

function thresholdsOf(steps: readonly Threshold[]): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([...steps]);
}

/** The methods that all kinds of panels have. */
interface AnyPanel extends Builder<unknown> {
  title(text: string): this;
  description(text: string): this;
  datasource(source: typeof DATASOURCE): this;
  unit(unit: string): this;
  decimals(decimals: number): this;
  min(min: number): this;
  max(max: number): this;
  mappings(mappings: ValueMapping[]): this;
  targets(targets: Builder<Dataquery>[]): this;
  span(columns: number): this;
  height(rows: number): this;
}

function begin<P extends AnyPanel>(panel: P, common: Common, span: number, height: number): P {
  panel.title(common.title).description(common.description).datasource(DATASOURCE);
  panel.span(common.span ?? span).height(height);
  if (common.unit !== undefined) panel.unit(common.unit);
  if (common.decimals !== undefined) panel.decimals(common.decimals);
  if (common.min !== undefined) panel.min(common.min);
  if (common.max !== undefined) panel.max(common.max);
  if (common.mappings) panel.mappings([...common.mappings]);
  return panel;
}

/** One number, or a few, as of now. */
export function stat(options: StatOptions): StatBuilder {
  const panel = begin(new StatBuilder(), options, 4, 4)
    .targets(options.queries.map((query, i) => target(query, i).instant()))
    .graphMode(BigValueGraphMode.None)
    .colorMode(BigValueColorMode.Value)
    .thresholds(thresholdsOf(options.steps ?? PLAIN))
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']));
  return options.noValue === undefined ? panel : panel.noValue(options.noValue);
}

/** Lines over time. Thresholds are dashed lines. */
export function graph(options: GraphOptions): GraphBuilder {
  const panel = begin(new GraphBuilder(), options, 12, options.height ?? 8)
    .targets(options.queries.map((query, i) => target(query, i).range()))
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.PaletteClassic))
    .drawStyle(options.bars ? GraphDrawStyle.Bars : GraphDrawStyle.Line)
    .lineWidth(options.bars ? 0 : 1)
    .fillOpacity(options.bars ? 80 : options.stacked ? 40 : 0)
    .showPoints(VisibilityMode.Auto)
    .spanNulls(options.bridge ?? false)
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(true),
    )
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending));
  if (options.stacked) panel.stacking(new StackingConfigBuilder().mode(StackingMode.Normal));
  if (options.held) panel.lineInterpolation(LineInterpolation.StepAfter);
  if (options.interval) panel.interval(options.interval);
  if (options.softMax !== undefined) panel.axisSoftMax(options.softMax);
  if (options.steps) {
    panel.thresholds(thresholdsOf(options.steps));
    panel.thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed));
  }
  for (const [name, color] of Object.entries(options.colors ?? {})) {
    panel.overrideByRegexp(name, [{ id: 'color', value: { mode: 'fixed', fixedColor: color } }]);
  }
  return panel;
}

/** A row for each set of labels, its values from several queries, as of now. */
export function table(options: TableOptions): TableBuilder {
  const columns = [...Object.values(options.labels), ...options.values.map(([, column]) => column)];
  const names = [
    ...Object.entries(options.labels).map(([label, { name }]) => [label, name] as const),
    // Grafana names the value of the only query plainly.
    ...options.values.map(
      ([, { name }], i) => [options.values.length === 1 ? 'Value' : `Value #${refIdOf(i)}`, name] as const,
    ),
  ];
  const panel = begin(new TableBuilder(), options, 24, options.height ?? 8)
    .targets(options.values.map(([expr], i) => target([expr, ''], i).instant().format(PromQueryFormat.Table)))
    .thresholds(thresholdsOf(PLAIN))
    .cellHeight(TableCellHeight.Sm)
    .withTransformation({ id: 'merge', options: {} })
    .withTransformation({
      id: 'organize',
      options: {
        excludeByName: { Time: true },
        indexByName: Object.fromEntries(names.map(([from], i) => [from, i])),
        renameByName: Object.fromEntries(names),
      },
    })
    .withTransformation({ id: 'sortBy', options: { sort: [{ field: options.sortBy, desc: !options.ascending }] } });
  for (const column of columns) {
    const properties = propertiesOf(column);
    if (properties.length > 0) panel.overrideByName(column.name, properties);
  }
  return options.noValue === undefined ? panel : panel.noValue(options.noValue);
}

function propertiesOf(column: Column): DynamicConfigValue[] {
  const { unit, decimals, width, steps, mappings, gauge, link } = column;
  return [
    ...(unit === undefined ? [] : [{ id: 'unit', value: unit }]),
    ...(decimals === undefined ? [] : [{ id: 'decimals', value: decimals }]),
    ...(width === undefined ? [] : [{ id: 'custom.width', value: width }]),
    ...(steps ? [{ id: 'thresholds', value: { mode: ThresholdsMode.Absolute, steps } }] : []),
    ...(mappings ? [{ id: 'mappings', value: mappings }] : []),
    ...(gauge
      ? [
          { id: 'min', value: 0 },
          { id: 'max', value: 1 },
          { id: 'custom.cellOptions', value: { type: 'gauge', mode: 'basic', valueDisplayMode: 'text' } },
        ]
      : steps || mappings
        ? [{ id: 'custom.cellOptions', value: { type: 'color-text' } }]
        : []),
    ...(link ? [{ id: 'links', value: [link] }] : []),
  ];
}
