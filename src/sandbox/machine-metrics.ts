import { MS_PER_MINUTE } from '../toolkit/lib/duration.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import type { Bounds, MachineMetricsBody } from './body.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import {
  newestPushes,
  PROCESSES,
  RETENTION_SECONDS,
  type RecordPosition,
  type RecordWindow,
  ringsOfNames,
} from './machines-data.ts';
import { type Push, recordOf } from './machines-records.ts';
import type { Sandbox } from './world.ts';

const LISTED_MS = 300 * MS_PER_MINUTE;

/**
 * Where each array continues on the next page, and what the first page decided for all pages: the end and the thinning.
 */
interface MachineMetricsCursor {
  readonly newest: UnixMs;
  readonly gap: number;
  readonly after: readonly (RecordPosition | null)[];
}

/** POST /api/v2/machine-metrics (api-facts 2). */
export function machineMetrics(sandbox: Sandbox, asked: MachineMetricsBody, now: UnixMs): string {
  const { page_size: size } = asked;
  const range = asked.range.timestamp;
  const names = asked.machines.length === 0 ? null : asked.machines;
  const query = ['machine-metrics', range, names, size];
  const cursor = decodeCursor<MachineMetricsCursor>(query, asked.cursor);
  const window = windowOf(range, now, cursor);
  const rings = names ? ringsOfNames(sandbox.fleet, names) : sandbox.fleet.rings;
  // One record more than fits shows whether there is another page.
  const ahead = PROCESSES.map((process, i) =>
    newestPushes(rings[process], process, window, cursor?.after[i] ?? undefined, size + 1),
  );
  const pages = ahead.map((found) => found.slice(0, size));
  const isLast = ahead.every((found) => found.length <= size);
  const after = pages.map((page, i) => lastOf(page) ?? cursor?.after[i] ?? null);
  const next: MachineMetricsCursor = { newest: window.newest, gap: window.gap, after };
  const [system, validator, node] = PROCESSES.map((process, i) =>
    (pages[i] ?? []).map((push) => recordOf(process, push)),
  );
  return JSON.stringify({
    data: { system_metrics: system, validator_metrics: validator, node_metrics: node },
    paging: { next_cursor: isLast ? '' : encodeCursor(query, next) },
  });
}

/** POST /api/v2/machine-metrics/machine-names: the machines of the last five hours (api-facts 2). */
export function machineNames({ fleet }: Sandbox, _body: object, now: UnixMs): string {
  const window = { oldest: now - LISTED_MS, newest: now, gap: 1 };
  const listed = [...fleet.machines.values()].filter(
    (one) => newestPushes([one], 'system', window, undefined, 1).length > 0,
  );
  return JSON.stringify({ data: listed.map(({ name }) => name) });
}

/** Limited to the records that exist. Bounds are whole seconds, while records have milliseconds. */
function windowOf(range: Bounds, now: UnixMs, cursor: MachineMetricsCursor | undefined): RecordWindow {
  const oldest = Math.max(range.start, Math.ceil(now / 1000) - RETENTION_SECONDS);
  const newest = cursor?.newest ?? Math.min(range.end * 1000 + 999, now);
  return { oldest: oldest * 1000, newest, gap: cursor?.gap ?? gapOf((newest / 1000 - oldest) / 60) };
}

/**
 * Of long ranges the service returns only every n-th record of a machine, depending on the minutes requested (api-facts
 * 2).
 */
function gapOf(minutes: number): number {
  if (minutes > 20_160) return 8;
  if (minutes > 10_080) return 7;
  if (minutes > 2_880) return 5;
  if (minutes > 1_440) return 4;
  return minutes > 770 ? 2 : 1;
}

function lastOf(page: readonly Push[]): RecordPosition | undefined {
  const last = page.at(-1);
  return last && [last.time, last.machine.name];
}
