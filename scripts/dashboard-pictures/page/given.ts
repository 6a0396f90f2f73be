import { dateTimeParse, type TimeRange } from '@grafana/data';
import type { DashboardJson } from './dashboard-json.ts';

/** What main.ts hands to the page. */
export interface Given {
  readonly dashboard: DashboardJson;
  /** The URL of Prometheus. */
  readonly prometheus: string;
  /** The end of the time range, Unix ms. */
  readonly now: number;
  /** Values chosen in menus, by name. The others show All. */
  readonly chosen: Readonly<Record<string, string>>;
  /** How the picture was made. */
  readonly footer: string;
  /** The title of the panel above which the picture ends; default: the whole dashboard. */
  readonly until?: string;
}

declare global {
  interface Window {
    given: Given;
    /** Set when everything is drawn. */
    isDrawn?: boolean;
  }
}

export const TIME_ZONE = 'utc';

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The range of the dashboard, such as now-6h, at the given time. */
export function timeRange({ dashboard, now }: Given): TimeRange {
  const [, count, unit = ''] = /^now-(\d+)([mhd])$/.exec(dashboard.time.from) ?? [];
  const from = dateTimeParse(now - Number(count) * (UNIT_MS[unit] ?? Number.NaN), { timeZone: TIME_ZONE });
  const to = dateTimeParse(now, { timeZone: TIME_ZONE });
  return { from, to, raw: { from, to } };
}
