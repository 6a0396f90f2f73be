import { TableCellHeight } from '@grafana/grafana-foundation-sdk/common';
import {
  type DynamicConfigValue,
  type Threshold,
  ThresholdsMode,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table';
import { PLAIN } from '../look.ts';
import { begin, type PanelOptions, refIdOf, target, thresholdsOf } from './panel.ts';

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

export interface TableOptions extends Pick<PanelOptions, 'title' | 'description' | 'span' | 'height' | 'since'> {
  /** Value columns, by their query. */
  readonly values: readonly (readonly [expr: string, column: Column])[];
  /** Columns that are labels, in front, by label. */
  readonly labels: Readonly<Record<string, Column>>;
  /** Name of a column. Numbers are sorted from the largest, words alphabetically. */
  readonly sortBy: string;
  readonly ascending?: boolean;
  readonly noValue?: string;
}

/** A row for each set of labels, its values from several queries, as of now. */
export function table(options: TableOptions): TableBuilder {
  const columns = [...Object.values(options.labels), ...options.values.map(([, column]) => column)];
  const names = [
    ...Object.entries(options.labels).map(([label, { name }]) => [label, name] as const),
    // The value of a single query has no suffix.
    ...options.values.map(
      ([, { name }], i) => [options.values.length === 1 ? 'Value' : `Value #${refIdOf(i)}`, name] as const,
    ),
  ];
  const panel = begin(new TableBuilder(), options, 24, 8)
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
