// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Grafana's variables.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { FOLDER } from '../../../scripts/dashboards.ts';

const Target = z.object({ refId: z.string(), expr: z.string(), legendFormat: z.string(), instant: z.boolean() });
const Place = z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() });
const Panel = z.object({
  type: z.string(),
  title: z.string(),
  description: z.string().optional(),
  interval: z.string().optional(),
  gridPos: Place,
  datasource: z.object({ uid: z.string() }).optional(),
  targets: z.array(Target.extend({ instant: Target.shape.instant.default(false) })).default([]),
  options: z
    .object({
      content: z.string().optional(),
      legend: z.object({ calcs: z.array(z.string()) }).optional(),
    })
    .optional(),
  fieldConfig: z
    .object({
      defaults: z.object({
        unit: z.string().optional(),
        custom: z.object({ drawStyle: z.string().optional() }).optional(),
      }),
    })
    .optional(),
});
const Dashboard = z.object({
  uid: z.string(),
  title: z.string(),
  description: z.string(),
  panels: z.array(Panel),
  annotations: z.object({ list: z.array(z.object({ name: z.string(), expr: z.string() })) }),
  templating: z.object({
    list: z.array(z.object({ name: z.string(), definition: z.string().optional(), allValue: z.string().optional() })),
  }),
});

/** The fields of the committed dashboards that tests read. */
export const DASHBOARDS = readdirSync(FOLDER)
  .sort()
  .map((name) => Dashboard.parse(JSON.parse(readFileSync(join(FOLDER, name), 'utf8'))));

export interface PanelQuery {
  readonly dashboard: string;
  readonly panel: string;
  readonly expr: string;
  readonly instant: boolean;
  /** Dashboard, panel and series. Queries of one name share a number between them: it is in one of them. */
  readonly name: string;
}

/** All queries of panels and annotations. */
export const QUERIES: readonly PanelQuery[] = DASHBOARDS.flatMap((one) => [
  ...one.panels.flatMap(({ title, targets }) =>
    targets.map(({ expr, instant, legendFormat, refId }) => ({
      dashboard: one.title,
      panel: title,
      expr,
      instant,
      name: `${one.title}, ${title}, ${legendFormat || refId}`,
    })),
  ),
  ...one.annotations.list.map(({ name, expr }) => ({
    dashboard: one.title,
    panel: `marks: ${name}`,
    expr,
    instant: false,
    name: `${one.title}, ${name}`,
  })),
]);

/** The values selected in the menus. A variable without values stands for All. */
export interface Chosen {
  readonly chain?: string | readonly string[];
  readonly group?: string | readonly string[];
  readonly machine?: string | readonly string[];
}

const VARIABLES: Readonly<Record<string, string>> = {
  __rate_interval: '10m',
  __interval: '10m',
  __range: '2h',
};

/** A query as Grafana sends it with this selection. */
export function interpolate(expr: string, chosen: Chosen = {}): string {
  return expr
    .replace(/\$\{(chain|group|machine):regex\}/g, (_, name: keyof Chosen) => {
      const values = chosen[name];
      return values === undefined ? valueOfAll(name) : regexFormat(values);
    })
    .replace(/\$(__\w+)/g, (whole, name: string) => VARIABLES[name] ?? whole);
}

/** The value of All, which Grafana inserts without escaping. */
function valueOfAll(name: string): string {
  const [value] = DASHBOARDS.flatMap(({ templating }) =>
    templating.list.flatMap((one) => (one.name === name ? (one.allValue ?? []) : [])),
  );
  if (value === undefined) throw new TypeError(`${name} has no All`);
  return value;
}

/** Grafana's format "regex": like escapeRegex of @grafana/data and the way its format registry joins values. */
export function regexFormat(values: string | readonly string[]): string {
  const escaped = [values].flat().map((value) => value.replace(/[\\^$*+?.()|[\]{}/]/g, '\\$&'));
  return escaped.length === 1 ? (escaped[0] ?? '') : `(${escaped.join('|')})`;
}
