import { unit } from '../../../src/lib/random.ts';
import { ARRAYS, fieldsOf, type Machines, type Push } from './machines.ts';
import type { ServiceSetting } from './setting.ts';

interface Asked {
  readonly range: { readonly timestamp: { readonly start: number; readonly end: number } };
  readonly machines?: readonly string[];
  readonly page_size?: number;
  readonly cursor?: string;
}

/** Where the next page begins: what had arrived at `readAt`, after so many pushes of each array. */
interface Position {
  /** A cursor belongs to its filters. */
  readonly filters: string;
  readonly readAt: number;
  readonly offsets: readonly number[];
}

interface Page {
  readonly body: string;
  /** The records that a client can use. */
  readonly pushes: readonly Push[];
}

const RETENTION = 31 * 86_400_000;

/** The answer to a request for machine metrics. undefined: a bad request. */
export function machinesPage(machines: Machines, setting: ServiceSetting, body: string, now: number): Page | undefined {
  const asked: Asked = JSON.parse(body);
  const { start, end } = asked.range?.timestamp ?? {};
  if (!Number.isInteger(start) || !Number.isInteger(end)) return undefined;
  const { page_size: wanted = 10, cursor = '' } = asked;
  const filters = JSON.stringify([asked.range, asked.machines, wanted]);
  const first: Position = { filters, readAt: now, offsets: ARRAYS.map(() => 0) };
  const position: Position = cursor === '' ? first : JSON.parse(cursor);
  if (position.filters !== filters || wanted < 1 || wanted > 10) return undefined;
  if (machines.emptyPages > 0) {
    machines.emptyPages -= 1;
    // Another cursor each time: a repeated one would end the sequence.
    const next = JSON.stringify({ ...position, empty: machines.emptyPages });
    return { body: `{"data":{"system_metrics":[]},"paging":{"next_cursor":${JSON.stringify(next)}}}`, pushes: [] };
  }
  const range = { start: Math.max(Number(start) * 1_000, now - RETENTION), end: Number(end) * 1_000 + 999 };
  const size = Math.min(wanted, setting.longestPage);
  const selected = machines.selected(asked.machines?.length ? asked.machines : undefined);
  const ahead = ARRAYS.map((array, i) =>
    selected
      .flatMap((machine) => [...machines.pushes(machine, array, range, position.readAt)])
      .sort((a, b) => b.time - a.time || (a.machine.name < b.machine.name ? -1 : 1))
      .slice(position.offsets[i]),
  );
  const counts =
    setting.pageSizeOver === 'each' ? ahead.map(({ length }) => Math.min(length, size)) : ofAll(ahead, size);
  const pages = ahead.map((pushes, i) => pushes.slice(0, counts[i]));
  const offsets = counts.map((count, i) => count + (position.offsets[i] ?? 0));
  const isEnd = ahead.every((pushes, i) => pushes.length === counts[i]);
  const next = isEnd ? '' : JSON.stringify({ filters, readAt: position.readAt, offsets });
  const arrays = pages.map(
    (page, i) => `"${ARRAYS[i]}_metrics":[${page.map((push) => textOf(machines, setting, push, now)).join(',')}]`,
  );
  return {
    body: `{"data":{${arrays.join(',')}},"paging":{"next_cursor":${JSON.stringify(next)}}}`,
    pushes: pages.flat().filter((push) => !machines.isSpoilt(push)),
  };
}

/** How many pushes of each array are among the newest `size` of all. */
function ofAll(ahead: readonly (readonly Push[])[], size: number): number[] {
  const all = ahead.flat().sort((a, b) => b.time - a.time);
  const newest = all.slice(0, size);
  return ARRAYS.map((array) => newest.filter((push) => push.array === array).length);
}

/** The JSON of a record, or of something else in its place if it is spoilt. */
function textOf(machines: Machines, { seed, timestamps }: ServiceSetting, push: Push, now: number): string {
  const timestamp = timestamps === 'milliseconds' ? push.time : Math.floor(push.time / 1_000);
  const record = { timestamp, machine: push.machine.name, ...fieldsOf(push) };
  const share = machines.oddAt(push.time);
  if (share === 0) return JSON.stringify(record);
  const draw = unit(seed, 6, push.machine.id, Math.floor(push.time / 1_000));
  if (machines.isSpoilt(push)) return JSON.stringify(SPOILT[Math.floor(draw * SPOILT.length)]?.(record, now) ?? null);
  const text = JSON.stringify(draw < share / 2 ? { ...record, cpu_threads: null, new_field: { list: [1] } } : record);
  return draw > 1 - share / 2 ? `${text},${text}` : text;
}

/** Each of them is no record that a client may use. */
const SPOILT: readonly ((record: Record<string, unknown>, now: number) => unknown)[] = [
  () => null,
  () => 'a record',
  () => ({}),
  (record) => ({ ...record, timestamp: null }),
  (record) => ({ ...record, timestamp: String(record['timestamp']) }),
  (record, now) => ({ ...record, timestamp: now + 400 * 86_400_000 }),
  (record) => ({ ...record, machine: 17 }),
  (record) => ({ ...record, cpu_cores: -8, memory_process_bytes: 'much' }),
];
