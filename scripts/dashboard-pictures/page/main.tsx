import {
  applyFieldOverrides,
  cacheFieldDisplayNames,
  createTheme,
  type DataFrame,
  type DataTransformerConfig,
  dateTimeParse,
  type Field,
  type FieldConfigPropertyItem,
  type FieldConfigSource,
  FieldType,
  Registry,
  rangeUtil,
  standardTransformers,
  standardTransformersRegistry,
  ThemeContext,
  type TimeRange,
  transformDataFrame,
} from '@grafana/data';
import { GlobalStyles, PanelChrome, PortalContainer } from '@grafana/ui';
import { createRoot } from 'react-dom/client';
import { firstValueFrom } from 'rxjs';
import packages from './package.json';
import { PANELS } from './panels.tsx';

/** The fields of a panel's JSON that are drawn. */
export interface PanelJson {
  readonly id: number;
  readonly type: string;
  readonly title?: string;
  readonly transparent?: boolean;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  /** The smallest step, such as 5m. */
  readonly interval?: string;
  readonly maxDataPoints?: number;
  readonly targets?: readonly Target[];
  readonly transformations?: DataTransformerConfig[];
  readonly fieldConfig?: FieldConfigSource;
  // biome-ignore lint/suspicious/noExplicitAny: each type of panel has its own.
  readonly options?: any;
}

interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat?: string;
  readonly instant?: boolean;
  readonly format?: string;
}

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [time: number, value: string])[];
}

declare global {
  /** What the script hands to the page. */
  const given: {
    readonly dashboard: {
      readonly title: string;
      readonly time: { readonly from: string };
      readonly panels: readonly PanelJson[];
      readonly templating: { readonly list: readonly { readonly name: string; readonly allValue?: string }[] };
    };
    /** The URL of Prometheus. */
    readonly url: string;
    /** The end of the time range, Unix ms. */
    readonly now: number;
    /** The title of the panel with which the picture begins; default: the first. */
    readonly since?: string;
    /** The title of the panel above which the picture ends; default: the whole dashboard. */
    readonly until?: string;
  };
  interface Window {
    /** Set when everything is drawn. */
    isDrawn?: boolean;
  }
}

const { dashboard, url, now, since, until } = given;
/** The scrape interval of the data source, seconds. */
const SCRAPE = 60;
// Grafana's grid: 24 columns, 30 px a row, 8 px between panels.
const COLUMNS = 24;
const ROW = 38;
const GAP = 8;
const PADDING = 32;
const COLUMN = (document.documentElement.clientWidth - PADDING + GAP) / COLUMNS;
const FONT = 'Inter Variable';
const FOOTER = `Simulated data. Drawn from the dashboard's JSON with Grafana's components (@grafana/ui ${packages.dependencies['@grafana/ui']}), not by a Grafana server.`;

const base = createTheme({ colors: { mode: 'dark' } });
const theme = createTheme({
  colors: { mode: 'dark' },
  typography: { fontFamily: `'${FONT}', ${base.typography.fontFamily}` },
});

const range = ((): TimeRange => {
  const seconds = rangeUtil.intervalToSeconds(dashboard.time.from.replace('now-', ''));
  const from = dateTimeParse(now - 1_000 * seconds, { timeZone: 'utc' });
  const to = dateTimeParse(now, { timeZone: 'utc' });
  return { from, to, raw: { from, to } };
})();

/** The series of a query, and the distance of their points. The variables of Grafana in the query are replaced. */
async function ask(target: Target, { interval, maxDataPoints, gridPos }: PanelJson) {
  const smallest = interval ? rangeUtil.intervalToSeconds(interval) : SCRAPE;
  const points = maxDataPoints ?? gridPos.w * COLUMN - GAP;
  const step = Math.max(rangeUtil.calculateInterval(range, points, `${smallest}s`).intervalMs / 1_000, smallest);
  const seconds = (range.to.valueOf() - range.from.valueOf()) / 1_000;
  const values: Readonly<Record<string, string>> = {
    // Grafana inserts the value of All as it is.
    ...Object.fromEntries(dashboard.templating.list.map(({ name, allValue = '' }) => [name, allValue])),
    __interval: `${step}s`,
    __rate_interval: `${Math.max(step + SCRAPE, 4 * SCRAPE)}s`,
    __range: `${seconds}s`,
    __range_s: `${seconds}`,
  };
  const query = target.expr.replace(/\$\{(\w+)(?::\w+)?\}|\$(\w+)/g, (whole, a, b) => values[a ?? b] ?? whole);
  // Grafana begins at a multiple of the step.
  const aligned = (ms: number): string => `${Math.floor(ms / 1_000 / step) * step}`;
  const span = { start: aligned(range.from.valueOf()), end: aligned(range.to.valueOf()), step: `${step}` };
  const [path, form] = target.instant ? ['query', { time: `${now / 1_000}` }] : ['query_range', span];
  const body = new URLSearchParams({ query, ...(form as object) });
  const { data, error } = await (await fetch(`${url}/api/v1/${path}`, { method: 'POST', body })).json();
  if (error !== undefined) throw new Error(`${error}: ${query}`);
  const found: Series[] =
    data.resultType === 'scalar'
      ? [{ metric: {}, values: [data.result] }]
      : data.result.map(({ metric, value, values }: Series & { value: unknown }) => ({
          metric,
          values: values ?? [value],
        }));
  return { found, stepMs: target.instant ? undefined : 1_000 * step };
}

function field(name: string, type: FieldType, values: unknown[], more: Partial<Field> = {}): Field {
  return { name, type, config: {}, values, ...more };
}

/** One frame per series, as Grafana's data source makes them. A longer distance of points than the step is a gap. */
function seriesFrames({ refId, legendFormat }: Target, found: readonly Series[], interval?: number): DataFrame[] {
  return found.map(({ metric, values }) => {
    const { __name__ = 'Value', ...labels } = metric;
    const isNamed = legendFormat && legendFormat !== '__auto';
    const name = isNamed ? legendFormat.replace(/\{\{\s*(.+?)\s*\}\}/g, (_, label) => labels[label] ?? '') : __name__;
    const times = values.map(([at]) => at * 1_000);
    const time = field('Time', FieldType.time, times, { config: interval === undefined ? {} : { interval } });
    const numbers = values.map(([, text]) => Number(text));
    const value = field('Value', FieldType.number, numbers, { labels, config: { displayNameFromDS: name } });
    return { refId, name, length: values.length, fields: [time, value] };
  });
}

/** One frame with a row per series and a column per label. */
function tableFrame({ refId }: Target, found: readonly Series[], valueName: string): DataFrame {
  const names = [...new Set(found.flatMap(({ metric }) => Object.keys(metric)))].filter((name) => name !== '__name__');
  const labels = names.sort().map((name) => {
    const texts = found.map(({ metric }) => metric[name] ?? '');
    return field(name, FieldType.string, texts);
  });
  const times = found.map(({ values }) => 1_000 * (values[0]?.[0] ?? Number.NaN));
  const numbers = found.map(({ values }) => Number(values[0]?.[1]));
  const fields = [field('Time', FieldType.time, times), ...labels, field(valueName, FieldType.number, numbers)];
  return { refId, length: found.length, fields };
}

/** The data of a panel, transformed, each field with its options by the defaults and overrides of the panel. */
async function framesOf(panel: PanelJson): Promise<DataFrame[]> {
  const { targets = [], transformations = [] } = panel;
  const tables = targets.filter(({ format }) => format === 'table').length;
  const asked = targets.map(async (target) => {
    const { found, stepMs } = await ask(target, panel);
    if (target.format !== 'table') return seriesFrames(target, found, stepMs);
    return [tableFrame(target, found, tables === 1 ? 'Value' : `Value #${target.refId}`)];
  });
  const data = await firstValueFrom(transformDataFrame(transformations, (await Promise.all(asked)).flat()));
  const { defaults, overrides } = panel.fieldConfig ?? { defaults: {}, overrides: [] };
  const source = { defaults: { ...defaults, custom: { ...CUSTOM_DEFAULTS, ...defaults.custom } }, overrides };
  const frames = applyFieldOverrides({
    data,
    fieldConfig: source,
    fieldConfigRegistry: registryOf(source),
    replaceVariables: (text) => text,
    theme,
    timeZone: 'utc',
  });
  cacheFieldDisplayNames(frames);
  return frames;
}

/** The defaults of a timeseries panel. */
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

/** Grafana's own registry is part of its server. This one has all options that the panel sets. */
function registryOf({ defaults, overrides }: FieldConfigSource): Registry<FieldConfigPropertyItem> {
  const { custom, ...own } = defaults;
  const ids = new Set([
    ...Object.keys(own),
    ...Object.keys(custom ?? {}).map((key) => `custom.${key}`),
    ...overrides.flatMap(({ properties }) => properties.map(({ id }) => id)),
  ]);
  const items = [...ids].map((id) => ({
    id,
    path: id.replace(/^custom\./, ''),
    name: id,
    isCustom: id.startsWith('custom.'),
    process: (value: unknown): unknown => structuredClone(value),
    shouldApply: () => true,
  }));
  return new Registry(() => items as unknown as FieldConfigPropertyItem[]);
}

async function draw(): Promise<void> {
  standardTransformersRegistry.setInit(() =>
    // Some have two names.
    [...new Set(Object.values(standardTransformers))].map(
      (one) => ({ id: one.id, name: one.name, transformation: async () => one }) as never,
    ),
  );
  const top = since === undefined ? 0 : topOf(since);
  const end = until === undefined ? Number.POSITIVE_INFINITY : topOf(until);
  const shown = dashboard.panels
    .filter(({ gridPos: { y } }) => y >= top && y < end)
    .map((panel) => ({ ...panel, gridPos: { ...panel.gridPos, y: panel.gridPos.y - top } }));
  const height = ROW * Math.max(...shown.map(({ gridPos }) => gridPos.y + gridPos.h));
  const panels = await Promise.all(
    shown.map(async (panel) => <Placed key={panel.id} {...{ panel, frames: await framesOf(panel) }} />),
  );
  await Promise.all(['400', '500'].map((weight) => document.fonts.load(`${weight} 14px "${FONT}"`)));
  createRoot(document.body.appendChild(document.createElement('div'))).render(
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <main>
        <header>
          <h1>{dashboard.title}</h1>
          <span className="range">{rangeUtil.describeTimeRange({ from: dashboard.time.from, to: 'now' })}</span>
        </header>
        <div style={{ position: 'relative', height }}>{panels}</div>
        <footer>{FOOTER}</footer>
      </main>
      <PortalContainer />
    </ThemeContext.Provider>,
  );
  // Charts draw after React has rendered, and tables measure themselves.
  setTimeout(() => {
    window.isDrawn = true;
  }, 1_000);
}

function topOf(title: string): number {
  const panel = dashboard.panels.find((one) => one.title === title);
  if (!panel) throw new Error(`${dashboard.title} has no panel ${title}`);
  return panel.gridPos.y;
}

/** A panel in its frame, at its place. */
function Placed({ panel, frames }: { readonly panel: PanelJson; readonly frames: DataFrame[] }) {
  const { x, y, w, h } = panel.gridPos;
  const [width, height] = [w * COLUMN - GAP, h * ROW - GAP];
  const Type = PANELS[panel.type];
  if (!Type && panel.type !== 'row') throw new Error(`no panel ${panel.type}`);
  const mode = panel.transparent ? 'transparent' : 'default';
  return (
    <div style={{ position: 'absolute', left: x * COLUMN, top: y * ROW, width, height }}>
      {Type ? (
        <PanelChrome title={panel.title ?? ''} width={width} height={height} displayMode={mode}>
          {(innerWidth, innerHeight) => (
            <Type panel={panel} frames={frames} timeRange={range} width={innerWidth} height={innerHeight} />
          )}
        </PanelChrome>
      ) : (
        <div className="section">⌄ {panel.title}</div>
      )}
    </div>
  );
}

void draw();
