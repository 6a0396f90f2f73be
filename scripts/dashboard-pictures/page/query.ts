import { type DataFrame, rangeUtil } from '@grafana/data';
import type { PanelJson, TargetJson } from './dashboard-json.ts';
import { seriesFrames, tableFrame } from './frames.ts';
import { type Given, timeRange } from './given.ts';
import { askInstant, askRange } from './prometheus.ts';
import { interpolate } from './variables.ts';

/** The scrape interval of the data source, seconds. */
const SCRAPE_INTERVAL = 60;

/** The data of a panel before its transformations. @param width Pixels */
export async function queryPanel(given: Given, panel: PanelJson, width: number): Promise<DataFrame[]> {
  const targets = (panel.targets ?? []).filter(({ hide }) => !hide);
  const tables = targets.filter(({ format }) => format === 'table').length;
  const frames = targets.map((target) => queryTarget(given, panel, { target, width, isOnlyTable: tables === 1 }));
  return (await Promise.all(frames)).flat();
}

interface Asked {
  readonly target: TargetJson;
  readonly width: number;
  readonly isOnlyTable: boolean;
}

async function queryTarget(
  given: Given,
  panel: PanelJson,
  { target, width, isOnlyTable }: Asked,
): Promise<DataFrame[]> {
  const step = stepOf(given, panel, width);
  const { from, to } = timeRange(given);
  const query = interpolate(target.expr, given, {
    __interval: `${step}s`,
    __rate_interval: `${Math.max(step + SCRAPE_INTERVAL, 4 * SCRAPE_INTERVAL)}s`,
    __range: `${(to.valueOf() - from.valueOf()) / 1000}s`,
    __range_s: `${(to.valueOf() - from.valueOf()) / 1000}`,
  });
  const found = target.instant ? await askInstant(given, query) : await askRange(given, query, step);
  if (target.format === 'table') return [tableFrame(target, found, isOnlyTable ? 'Value' : `Value #${target.refId}`)];
  return seriesFrames(target, found, target.instant ? undefined : step * 1000);
}

/** Seconds between two points. */
function stepOf(given: Given, { interval, maxDataPoints }: PanelJson, width: number): number {
  const points = maxDataPoints ?? width;
  const smallest = interval ? rangeUtil.intervalToSeconds(interval) : SCRAPE_INTERVAL;
  const { intervalMs } = rangeUtil.calculateInterval(timeRange(given), points, `${smallest}s`);
  return Math.max(intervalMs / 1000, smallest);
}
