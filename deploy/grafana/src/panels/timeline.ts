import { VisibilityMode } from '@grafana/grafana-foundation-sdk/common';
import type { ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/statetimeline';
import { begin, legend, type PanelOptions, type Query, target, tooltip } from './panel.ts';

export interface TimelineOptions extends PanelOptions {
  readonly queries: readonly Query[];
  /** A word and a colour for each value. */
  readonly mappings: readonly ValueMapping[];
  /** The shortest step; a minute unless given. */
  readonly interval?: string;
}

/** States over time: a row for each series, a colour for each state. */
export function timeline({ interval = '1m', ...options }: TimelineOptions): PanelBuilder {
  return begin(new PanelBuilder(), options, 24, 7)
    .targets(options.queries.map((query, i) => target(query, i).range()))
    .interval(interval)
    .mergeValues(true)
    .showValue(VisibilityMode.Auto)
    .perPage(20)
    .rowHeight(0.8)
    .lineWidth(0)
    .fillOpacity(75)
    .legend(legend([]))
    .tooltip(tooltip());
}
