import type { MarkJson } from './dashboard-json.ts';
import { type Given, timeRange } from './given.ts';
import { askRange } from './prometheus.ts';
import { interpolate } from './variables.ts';

/** An annotation. */
export interface Mark {
  /** Unix ms. */
  readonly time: number;
  /** A colour of Grafana's, such as dark-red. */
  readonly color: string;
}

const STEP = 60;

/** The annotations of the dashboard. */
export async function marksOf(given: Given): Promise<Mark[]> {
  const marks = await Promise.all(given.dashboard.annotations.list.map((one) => marksFrom(given, one)));
  return marks.flat();
}

async function marksFrom(given: Given, { expr, iconColor, useValueForTime }: MarkJson): Promise<Mark[]> {
  if (!expr) return [];
  const { from, to } = timeRange(given);
  const found = await askRange(given, interpolate(expr, given, { __interval: `${STEP}s` }), STEP);
  const times = found.flatMap(({ values }) =>
    values.map(([at, value]) => (useValueForTime ? Number(value) : at * 1000)),
  );
  const isShown = (time: number): boolean => time >= from.valueOf() && time <= to.valueOf();
  return [...new Set(times)].filter(isShown).map((time) => ({ time, color: iconColor }));
}
