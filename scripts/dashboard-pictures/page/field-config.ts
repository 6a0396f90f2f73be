import {
  applyFieldOverrides,
  cacheFieldDisplayNames,
  type DataFrame,
  type FieldConfigPropertyItem,
  type FieldConfigSource,
  type GrafanaTheme2,
  Registry,
} from '@grafana/data';
import { TIME_ZONE } from './given.ts';

/** What a timeseries panel has where its JSON says nothing. */
const CUSTOM_DEFAULTS = {
  axisBorderShow: false,
  axisColorMode: 'text',
  axisPlacement: 'auto',
  barAlignment: 0,
  barWidthFactor: 0.6,
  drawStyle: 'line',
  fillOpacity: 0,
  gradientMode: 'none',
  hideFrom: { legend: false, tooltip: false, viz: false },
  lineInterpolation: 'linear',
  lineWidth: 1,
  pointSize: 5,
  scaleDistribution: { type: 'linear' },
  showPoints: 'auto',
  spanNulls: false,
  stacking: { group: 'A', mode: 'none' },
  thresholdsStyle: { mode: 'off' },
};

/** Gives each field its options, by the defaults and the overrides of a panel. */
export function withFieldConfig(
  frames: DataFrame[],
  fieldConfig: FieldConfigSource = { defaults: {}, overrides: [] },
  theme: GrafanaTheme2,
): DataFrame[] {
  const custom = { ...CUSTOM_DEFAULTS, ...fieldConfig.defaults.custom };
  const source = { ...fieldConfig, defaults: { ...fieldConfig.defaults, custom } };
  const configured = applyFieldOverrides({
    data: frames,
    fieldConfig: source,
    fieldConfigRegistry: registryOf(source),
    replaceVariables: (text) => text,
    theme,
    timeZone: TIME_ZONE,
  });
  cacheFieldDisplayNames(configured);
  return configured;
}

/** Grafana's own registry is part of its server. This one knows all options that the panel sets. */
function registryOf({ defaults, overrides }: FieldConfigSource): Registry<FieldConfigPropertyItem> {
  const ids = new Set([
    ...Object.keys(defaults).filter((key) => key !== 'custom'),
    ...Object.keys(defaults.custom ?? {}).map((key) => `custom.${key}`),
    ...overrides.flatMap(({ properties }) => properties.map(({ id }) => id)),
  ]);
  return new Registry(() => [...ids].map(itemOf));
}

function itemOf(id: string): FieldConfigPropertyItem {
  const isCustom = id.startsWith('custom.');
  const process = (value: unknown): unknown => structuredClone(value);
  return {
    id,
    path: isCustom ? id.slice('custom.'.length) : id,
    name: id,
    isCustom,
    process,
    shouldApply: () => true,
    editor: () => null,
    override: () => null,
  } as unknown as FieldConfigPropertyItem;
}
